exec 2>&1
lines() { grep -e ' tokens' -e bands -e '^figure' -e lru_30 | sed "s|$SOURCE|SOURCE|"; }
