#!/bin/bash
# What the pages show is what the program prints: in every ```console block, each line after "$ " is run
# from the repository's root, and the lines below it must be its output. UPDATE=1 rewrites them; review
# the diff.
set -eu
cd "$(dirname "$0")/../.."
program=$(realpath -m "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
pages=(README.md traces/README.md scenarios/guides/*.md)

# The program under the name that pages call it by, and a place for what it writes.
ln -s "$program" "$scratch/spillway"
export SPILLWAY_DATA=$PWD
run() {
    sed -e "s#build/spillway#$scratch/spillway#g" -e "s#build/demo#$scratch#g" <<<"$1" >"$scratch/cmd"
    bash -eu "$scratch/cmd" 2>&1 </dev/null || echo "exit status $?"
}

# Print the page with the output of its commands in place of what it shows.
redo_page() {
    local inside=no line
    while IFS= read -r line; do
        case $inside:$line in
        no:'```console') inside=yes ;;
        yes:'```') inside=no ;;
        yes:'$ '*)
            printf '%s\n' "$line"
            run "${line#'$ '}"
            continue
            ;;
        yes:*) continue ;;
        esac
        printf '%s\n' "$line"
    done <"$1"
}

echo "1..${#pages[@]}"
failed=0
for number in "${!pages[@]}"; do
    page=${pages[number]}
    redo_page "$page" >"$scratch/page"
    [ "${UPDATE:-0}" = 0 ] || cp "$scratch/page" "$page"
    if diff -u "$page" "$scratch/page" >"$scratch/difference"; then
        echo "ok $((number + 1)) - $page shows what the program prints"
    else
        sed 's/^/# /' "$scratch/difference"
        echo "not ok $((number + 1)) - $page shows what the program prints"
        failed=1
    fi
done
exit $failed
