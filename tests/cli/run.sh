#!/bin/bash
# Command-line tests: run the real program, compare what it prints.
#
#   tests/cli/run.sh [NAME...]            all without names; prints TAP
#   UPDATE=1 tests/cli/run.sh [NAME...]   rewrite the expected files; review the diff
#
# tests/cli/NAME/cmd is a bash script. It runs in a fresh folder that holds copies of the other
# files of tests/cli/NAME, for five minutes at most, with the program on PATH and the repository in
# $SOURCE. Its standard output, standard error and exit status must equal the files stdout and
# stderr (empty when they are absent) and exit (0 when it is absent).
#
# PROGRAM=FILE runs another program, which must be called spillway.
set -u
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=$(cd "$here/../.." && pwd)
program=$(realpath -m "${PROGRAM:-$SOURCE/build/spillway}")
export SOURCE LC_ALL=C.UTF-8 TZ=UTC PATH="${program%/*}:$PATH"
unset SPILLWAY_DATA COLUMNS
export XDG_CACHE_HOME=/dev/null # no folder: nothing is kept from one command to the next

[ $# -gt 0 ] || set -- $(cd "$here" && ls -d */ 2>/dev/null | tr -d /)
echo "1..$#"

scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

# Run the case $1 and leave stdout, stderr and exit in $scratch/got.
run_case() {
    chmod -R u+w "$scratch"
    rm -rf "$scratch"/*
    mkdir "$scratch/got" "$scratch/fresh"
    cp -R "$here/$1/." "$scratch/fresh"
    (cd "$scratch/fresh" && rm -f cmd stdout stderr exit &&
        exec timeout 300 bash -eu "$here/$1/cmd") \
        >"$scratch/got/stdout" 2>"$scratch/got/stderr" </dev/null
    echo $? >"$scratch/got/exit"
}

# The contents that an absent expected file stands for.
default() {
    [ "$1" != exit ] || echo 0
}

# Rewrite the expected files; one that equals its default is removed.
update_case() {
    for file in stdout stderr exit; do
        if default $file | cmp -s - "$scratch/got/$file"; then
            rm -f "$here/$1/$file"
        else
            cp "$scratch/got/$file" "$here/$1/$file"
        fi
    done
}

# Print the differences as TAP comments; succeed when there are none.
compare_case() {
    local same=0
    for file in stdout stderr exit; do
        if [ -e "$here/$1/$file" ]; then cat "$here/$1/$file"; else default $file; fi |
            diff -u --label "$1/$file expected" --label "$1/$file" - "$scratch/got/$file" |
            sed 's/^/# /'
        [ "${PIPESTATUS[1]}" -eq 0 ] || same=1
    done
    return $same
}

number=0
failures=0
for name in "$@"; do
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
