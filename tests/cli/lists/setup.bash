names() { spillway list "$1" | awk 'NR > 1 && !/^ / { print $1 }' | sort -u; }
files() { (cd "$SOURCE" && for file in "$@"; do basename "${file%.*}"; done | sort -u); }
cd "$SOURCE"
