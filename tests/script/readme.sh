#!/bin/bash
# The pages for users are correct.
#
# They show what the program prints: in every ```console block, each line after "$ " is run from the
# repository's root, and the lines below it must be its output. A command may go on behind a "\". In a
# pipe, both outputs of the program must go through it, and to its end: otherwise their order is chance.
# UPDATE=1 rewrites the output; review the diff. The pages are also easy to read (no long lines,
# paragraphs or wide tables; a system is told in 60 lines), and no link of any page leads nowhere. The
# guides to the code name no file that does not exist.
set -eu
cd "$(dirname "$0")/../.."
program=$(realpath -m "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/cache"
export XDG_CACHE_HOME=${SHARED_CACHE:-$scratch/cache} # answers are the same without it, and take longer
pages=(README.md docs/*.md hwprofiles/README.md traces/*.md scenarios/guides/*.md)
generated=(scenarios/papers/{README,figures,rules,kv-pools}.md tests/bench/RESULTS.md)
guides=(ARCHITECTURE.md sim/*/README.md)
linked=("${pages[@]}" "${generated[@]}" "${guides[@]}" CONTRIBUTING.md calibrate/*.md)

# The program under the name that pages call it by, and a place for what it writes.
ln -s "$program" "$scratch/spillway"
export SPILLWAY_DATA=$PWD
run() {
    sed -e "s#build/spillway#$scratch/spillway#g" -e "s#build/demo#$scratch#g" <<<"$1" >"$scratch/cmd"
    bash -eu "$scratch/cmd" 2>&1 </dev/null || echo "exit status $?"
}

# Print the page with the output of its commands in place of what it shows.
redo_page() {
    local inside=no line command
    while IFS= read -r line; do
        case $inside:$line in
        no:'```console') inside=yes ;;
        yes:'```') inside=no ;;
        yes:'$ '*)
            command=${line#'$ '}
            printf '%s\n' "$line"
            while [[ $command == *\\ ]] && IFS= read -r line; do
                printf '%s\n' "$line"
                command+=$'\n'$line
            done
            run "$command"
            continue
            ;;
        yes:*) continue ;;
        esac
        printf '%s\n' "$line"
    done <"$1"
}

# Name what is hard to read in a page. Rows of tables and blocks of ```text may be long, and so may
# what a program writes below the mark.
hard_to_read() {
    LC_ALL=C.UTF-8 sed 's/[^ -~]/x/g' "$1" | awk -v page="$1" '
        function complain(what) { print page ":" NR ": a " what }
        /^<!-- below: make papers -->/ { exit }
        page ~ /how-.*-works/ && NR == 61 { complain("line past the 60 of a page about a system") }
        /^```/ { fence = fence == "" ? $0 : ""; lines = 0; next }
        fence == "" && /^[|]/ {
            if (split($0, cells, "|") - 2 > 8) complain("table of more than 8 columns")
            lines = 0
            next
        }
        fence != "```text" && length > 120 { complain("line of more than 120 characters") }
        fence != "" { next }
        !NF || /^(#|    |!|<)/ { lines = 0; next }
        /^ *([-*]|[0-9]+[.]) / { lines = 0 }
        ++lines == 6 { complain("paragraph of more than 5 lines") }'
}

# Print "FILE ANCHOR" of each link of a page to another file, or to a place in one.
links() {
    awk '/^```/ { fence = !fence } !fence' "$1" | grep -oE '\]\([^) ]+\)' | sed 's/^](//; s/)$//' |
        grep -vE '^[a-z]+:' | sed "s/^#/${1##*/}#/; s/#/ /"
}

# Print the anchors of a page, as GitHub makes them of its headings.
anchors() {
    awk '/^```/ { fence = !fence } !fence && /^#+ /' "$1" |
        sed -E 's/^#+ //; s/[^[:alnum:] _-]//g; s/ /-/g' | tr '[:upper:]' '[:lower:]'
}

# Name each link of a page that leads nowhere.
dead_links() {
    local file anchor folder
    folder=$(dirname "$1")
    links "$1" | while read -r file anchor; do
        [ -e "$folder/$file" ] || { echo "$1: there is no $file"; continue; }
        [ -z "$anchor" ] || anchors "$folder/$file" | grep -qxF -- "$anchor" || echo "$1: $file has no #$anchor"
    done
}

# Name each source file that a guide names as `PATH`, a full path or the end of one, and that is nowhere.
missing_files() {
    find sim calibrate tests tools traces plots python examples -type f | sed 's#^#/#' >"$scratch/files"
    awk '/^```/ { fence = !fence } !fence' "$1" | grep -oE '`[a-z0-9_./-]+[.](c|h|cu|cuh|def|sh|py)`' | tr -d '`' |
        sort -u | while read -r name; do
        awk -v end="/$name" 'substr($0, length - length(end) + 1) == end { found = 1; exit }
            END { exit !found }' "$scratch/files" || echo "$1: there is no $name"
    done
}

number=0
failed=0
report() { # NAME: what the file `difference` holds speaks against it
    number=$((number + 1))
    [ -s "$scratch/difference" ] || { echo "ok $number - $1"; return 0; }
    sed 's/^/# /' "$scratch/difference"
    echo "not ok $number - $1"
    failed=1
}

echo "1..$((${#pages[@]} + 3))"
for page in "${pages[@]}"; do
    redo_page "$page" >"$scratch/page"
    [ "${UPDATE:-0}" = 0 ] || cp "$scratch/page" "$page"
    diff -u "$page" "$scratch/page" >"$scratch/difference" || true
    report "$page shows what the program prints"
done
for page in "${pages[@]}" "${generated[@]}" sim/*/README.md calibrate/*.md; do hard_to_read "$page"; done >"$scratch/difference"
report "pages are easy to read"
for page in "${linked[@]}"; do dead_links "$page"; done >"$scratch/difference"
report "links lead somewhere"
for page in "${guides[@]}"; do missing_files "$page"; done >"$scratch/difference"
report "guides name files that exist"
exit $failed
