#!/bin/bash
# Command-line tests: run the real program, compare what it prints.
#
#   tests/cli/run.sh [NAME...]            all without names; prints TAP
#   UPDATE=1 tests/cli/run.sh [NAME...]   rewrite the expected files; review the diff
#
# tests/cli/NAME/cmd is a bash script. It runs in a fresh folder that holds copies of the other
# files of tests/cli/NAME, for half an hour at most, with the program on PATH, the repository in
# $SOURCE, and a cache that is empty at first. Its standard output, standard error and exit status
# must equal the files stdout and stderr (empty when they are absent) and exit (0 when it is absent).
#
# Cases may be one level deeper: 'plan/targets' is one, and 'plan' then names all of tests/cli/plan.
#
# PROGRAM=FILE runs another program, which must be called spillway.
set -u
here=$(cd "$(dirname "$0")" && pwd)
SOURCE=$(cd "$here/../.." && pwd)
program=$(realpath -m "${PROGRAM:-$SOURCE/build/spillway}")
export SOURCE LC_ALL=C.UTF-8 TZ=UTC PATH="${program%/*}:$PATH"
unset SPILLWAY_DATA COLUMNS

cd "$here" || exit 1
[ $# -gt 0 ] || set -- */
cases=()
for name in "$@"; do
    name=${name%/}
    found=${#cases[@]}
    for cmd in "$name"/cmd "$name"/*/cmd; do
        [ ! -e "$cmd" ] || cases+=("${cmd%/cmd}")
    done
    [ ${#cases[@]} -gt "$found" ] || { echo "tests/cli/run.sh: there is no case '$name'" >&2; exit 2; }
done
echo "1..${#cases[@]}"

scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT

# Copy what a case has besides its command, what is expected, and cases of its own.
copy_files() {
    local file
    for file in "$here/$1"/* "$here/$1"/.[!.]*; do
        case ${file##*/} in
        cmd | stdout | stderr | exit | '*' | '.[!.]*') ;;
        *) [ -e "$file/cmd" ] || cp -R "$file" "$2" ;;
        esac
    done
}

# Run the case $1 and leave stdout, stderr and exit in $got.
run_case() {
    got=$scratch/$number.got
    mkdir "$got" "$scratch/$number" "$scratch/$number.cache"
    export XDG_CACHE_HOME=$scratch/$number.cache
    copy_files "$1" "$scratch/$number"
    (cd "$scratch/$number" && exec timeout 1800 bash -eu "$here/$1/cmd") \
        >"$got/stdout" 2>"$got/stderr" </dev/null
    echo $? >"$got/exit"
}

# The contents that an absent expected file stands for.
default() {
    [ "$1" != exit ] || echo 0
}

# Rewrite the expected files; one that equals its default is removed.
update_case() {
    for file in stdout stderr exit; do
        rm -f "$here/$1/$file"
        is_expected "$1" $file || cp "$got/$file" "$here/$1/$file"
    done
}

is_expected() { # CASE FILE
    if [ -e "$here/$1/$2" ]; then
        cmp -s "$here/$1/$2" "$got/$2"
    else
        default "$2" | cmp -s - "$got/$2"
    fi
}

# Print the differences as TAP comments; succeed when there are none.
compare_case() {
    local same=0
    for file in stdout stderr exit; do
        ! is_expected "$1" $file || continue
        if [ -e "$here/$1/$file" ]; then cat "$here/$1/$file"; else default $file; fi |
            diff -u --label "$1/$file expected" --label "$1/$file" - "$got/$file" |
            sed 's/^/# /'
        [ "${PIPESTATUS[1]}" -eq 0 ] || same=1
    done
    return $same
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
