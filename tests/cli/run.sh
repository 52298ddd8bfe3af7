#!/bin/bash
# Command-line tests: run the real program, compare what it prints.
#
#   tests/cli/run.sh [NAME...]            all without names; prints TAP
#   UPDATE=1 tests/cli/run.sh [NAME...]   rewrite the expected files; review the diff
#
# tests/cli/NAME.case is a bash script and, below the lines "=== stdout" and "=== stderr", what it prints on
# these two (nothing, if there is no such line). It runs in a fresh folder that holds copies of what is in the
# folder tests/cli/NAME, if there is one, for half an hour at most, with the program on PATH, its file in
# $PROGRAM, the repository in $SOURCE, and a cache of replays that is empty before the first case of its
# family. It must end with 0: a command that should fail is followed by `|| echo "=> $?"`, so that no error in
# the midst of a case hides its other commands.
#
# Cases may be one level deeper: 'plan/targets' is one, and 'plan' then names all of tests/cli/plan.
#
# A case runs the program at most five times, so that a person can review it. tests/cli/longer names
# those that may do so more often.
#
# PROGRAM=FILE runs another program.
set -u
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=$(cd "$here/../.." && pwd)
PROGRAM=$(realpath -m "${PROGRAM:-$SOURCE/build/spillway}")
export SOURCE PROGRAM COMMANDS LC_ALL=C.UTF-8 TZ=UTC
unset SPILLWAY_DATA COLUMNS
MOST=5 # commands of a case, if `longer` names none
declare -A longer
while read -r name most; do
    [[ $name == '#'* ]] || longer[$name]=$most
done <"$here/longer"

cd "$here" || exit 1
[ $# -gt 0 ] || set -- $(printf '%s\n' *.case */*.case | sed 's:/.*::; s:[.]case$::' | sort -u)
cases=()
for name in "$@"; do
    name=${name%/}
    found=${#cases[@]}
    for file in "$name".case "$name"/*.case; do
        [ ! -e "$file" ] || cases+=("${file%.case}")
    done
    [ ${#cases[@]} -gt "$found" ] || { echo "tests/cli/run.sh: there is no case '$name'" >&2; exit 2; }
done
echo "1..${#cases[@]}"

scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

# What cases call: the program, with a letter in the file $COMMANDS for each call.
mkdir "$scratch/bin"
printf '#!/bin/sh\nprintf . >>"$COMMANDS"\nexec "$PROGRAM" "$@"\n' >"$scratch/bin/spillway"
# `... | masked` keeps the layout of a table and hides its figures, which other cases have: "31.4" is "####".
printf '#!/bin/sh\nexec perl -CSD -pe '\''%s'\''\n' 's/(?<![\w.-])\d+(\.\d+)?(?![\w.]*\w)/"#" x length $&/ge' >"$scratch/bin/masked"
chmod +x "$scratch/bin/spillway" "$scratch/bin/masked"
PATH=$scratch/bin:$PATH

# Write the script of the case $1, and what it should print, to the folder $2.
split_case() {
    : >"$2/cmd" >"$2/expected.stdout" >"$2/expected.stderr"
    awk -v at="$2/" -v part=cmd '/^=== std(out|err)$/ { part = "expected." $2; next } { print >(at part) }' "$here/$1.case"
}

# Run the case $1 and leave stdout, stderr and wrong in $got.
run_case() {
    local status=0
    got=$scratch/$number.got
    mkdir -p "$got" "$scratch/$number" "$scratch/${1%%/*}.cache"
    COMMANDS=$got/commands
    export XDG_CACHE_HOME=$scratch/${1%%/*}.cache
    split_case "$1" "$got"
    [ ! -d "$here/$1" ] || cp -R "$here/$1/." "$scratch/$number"
    : >"$COMMANDS"
    (cd "$scratch/$number" && exec timeout 1800 bash -eu "$got/cmd") \
        >"$got/stdout" 2>"$got/stderr" </dev/null || status=$?
    wrong_in "$1" $status >"$got/wrong"
}

# Name what no expected file can make right: the case, its exit status.
wrong_in() {
    local calls most=${longer[$1]:-$MOST}
    calls=$(<"$COMMANDS")
    [ "$2" -eq 0 ] || echo "# $1: ended with $2, after ${#calls} commands"
    [ "${#calls}" -le "$most" ] || echo "# $1: runs the program ${#calls} times, at most $most"
}

# Rewrite what the case $1 should print.
update_case() {
    for stream in stdout stderr; do
        cp "$got/$stream" "$got/expected.$stream"
        [ ! -s "$got/$stream" ] || { echo "=== $stream" && cat "$got/$stream"; } >>"$got/cmd"
    done
    cat "$got/cmd" >"$here/$1.case"
}

# Print the differences as TAP comments; succeed when there are none.
compare_case() {
    local same=0
    for stream in stdout stderr; do
        ! cmp -s "$got/expected.$stream" "$got/$stream" || continue
        diff -u --label "$1/$stream expected" --label "$1/$stream" "$got/expected.$stream" "$got/$stream" | sed 's/^/# /'
        same=1
    done
    cat "$got/wrong"
    [ ! -s "$got/wrong" ] && [ $same -eq 0 ]
}

number=0
failures=0
for name in "${cases[@]}"; do
    number=$((number + 1))
    run_case "$name"
    [ "${UPDATE:-0}" = 0 ] || update_case "$name"
    if compare_case "$name"; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        failures=$((failures + 1))
    fi
done
[ $failures -eq 0 ]
