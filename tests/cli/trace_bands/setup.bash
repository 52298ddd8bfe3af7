exec 2>&1
lines() { grep -e ' tokens' -e bands -e '(' -e '^figure' -e lru_30 | sed "s|$SOURCE|SOURCE|g"; }
