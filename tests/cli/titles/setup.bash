texts() { grep -o '<text>[^<]*' "$1" | sed 's/<text>//'; }
