#!/bin/bash
# No result outlives the code that computed it: a program with one changed constant computes anew beside what
# an older program stored, and shows only its own; the same sources give the same names.
set -euo pipefail
cd "$(dirname "$0")/../.."
. tests/script/tap.bash
program=$(realpath -m "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SPILLWAY_DATA=$PWD
question=(--set model=llama-3-8b --set hardware=a40 --set system=vllm --set context=4K --set batch=1)

# A copy of the tree, with what was built from it.
mkdir -p "$scratch/tree/build/release"
cp -a Makefile sim tools "$scratch/tree"
cp -a build/release/{sim,libspillway.a,sources,commit} "$scratch/tree/build/release"
rebuild() {
    make -s -C "$scratch/tree" V=1 build/spillway >"$scratch/said" 2>&1
}
ask() { # PROGRAM COLUMN [OPTION...]
    "$1" simulate "${question[@]}" --json "${@:3}" | jq -r ".$2"
}
changed=$scratch/tree/build/spillway
sources() {
    "$scratch/tree/tools/identity.sh" sources
}

unchanged_gives_the_same() {
    local run
    rebuild && run=$(ask "$changed" run) && [[ $run =~ ^[0-9a-f]{16}$ ]] && [ "$run" = "$(ask "$program" run)" ]
}

# One byte in a file of each folder, taken back again.
every_folder_counts() {
    local file before after same=$1
    before=$(sources)
    for file in "${@:2}"; do
        cp -p "$scratch/tree/$file" "$scratch/kept"
        echo >>"$scratch/tree/$file"
        after=$(sources)
        cp -p "$scratch/kept" "$scratch/tree/$file"
        [ "$same" = "$([ "$before" = "$after" ] && echo same || echo changed)" ] ||
            { echo "$file: $before $after" >"$scratch/said" && return 1; }
    done
}
computing=$(find sim -name '*.[ch]' -o -name '*.def' | grep -v '^sim/cli/\|^sim/store/\|^sim/main' | LC_ALL=C sort |
    awk '{ folder = $0; sub("/[^/]*$", "", folder); kind = $0; sub(".*[.]", ".", kind) } !seen[folder kind]++')
showing=$(find sim/cli sim/store -name '*.c' | LC_ALL=C sort | awk -F / '!seen[$2 "/" $3]++' | head -5)

a_constant_computes_anew() {
    local old new
    old=$(ask "$program" step_us --db "$scratch/runs.db")
    sed -i 's/kernel.ns = bytes \* 1e9/kernel.ns = bytes * 1.5e9/' "$scratch/tree/sim/decode/cost/kernel_time.c"
    rebuild || return 1
    new=$(ask "$changed" step_us --db "$scratch/runs.db")
    echo "before $old, after $new" >"$scratch/said"
    [ "$old" != "$new" ] && [ "$new" = "$(ask "$changed" step_us)" ] && [ "$(ask "$program" step_us)" = "$old" ]
}

both_are_kept() {
    sqlite3 "$scratch/runs.db" 'SELECT COUNT(*), COUNT(DISTINCT run), COUNT(DISTINCT version) FROM runs' >"$scratch/said"
    [ "$(cat "$scratch/said")" = '2|2|2' ]
}

each_shows_its_own() {
    local one
    for one in "$program" "$changed"; do
        "$one" report "$scratch/runs.db" -o "$scratch/page.html"
        grep -o 'Note: [^<]*' "$scratch/page.html" >"$scratch/said" || return 1
        [ "$(cat "$scratch/said")" = 'Note: 1 result of other programs is left out.' ] || return 1
        grep -qF "$("$one" --version | sed 's/spillway \([^,]*\).*/\1/')" "$scratch/page.html" || return 1
    done
}

echo 1..6
check 'the same sources give the same run' unchanged_gives_the_same
check 'every folder that computes is part of the name' every_folder_counts changed $computing
check 'what shows and keeps results is not' every_folder_counts same sim/main.c $showing
check 'a changed constant computes anew' a_constant_computes_anew
check 'both results are kept' both_are_kept
check 'each program shows its own' each_shows_its_own
exit $failed
