#!/bin/bash
# CONTRIBUTING.md is enough: everything that it tells a newcomer to write is written, to the letter, into
# a copy of the tree, which is built and run. Then each piece is left out, and is found as the page says.
#
# The line above a block of the page says where the block goes:
#   `FILE`:                           the whole file (what else the line says does not matter)
#   `FILE`, before `LINE`:            above that line of it
#   `FILE`, at the end of `NAME[]`:   after the last row of a table, before the NULL that may end it
# A ```console block shows commands and what they print. A row of the table "without, found by, says" is
# a file to put back as it was, or the start of a line to delete from the preset.
set -u
cd "$(dirname "$0")/../.."
source=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export LC_ALL=C.UTF-8 NO_INSTALL=1
export OPTIMIZE=-O0 # what is compiled runs for a moment
unset PROGRAM SPILLWAY_DATA MAKEFLAGS MFLAGS SANITIZE

# The tree and its objects, with their times, so that they are not built again.
tree=$scratch/tree
mkdir -p "$tree/build"
find . -mindepth 1 -maxdepth 1 -not -name build -not -name '.git*' -exec cp -a {} "$tree" \;
cp -a build/release build/spillway "$tree/build" 2>/dev/null
cd "$tree" || exit 1

number=0
failures=0
check() { # NAME STATUS
    number=$((number + 1))
    if [ "$2" -eq 0 ]; then echo "ok $number - $1"; else
        sed 's/^/# /' "$scratch/log"
        echo "not ok $number - $1"
        failures=$((failures + 1))
    fi
}
# Quietly, from the root of the copy.
run() { bash -euc "$1" >"$scratch/log" 2>&1 </dev/null; }
build() { run "make -s -j2 $1"; }

# ---- what the page says -------------------------------------------------------------------------

mkdir "$scratch/blocks"
awk -v to="$scratch/blocks/" '
    /^```/ && inside { inside = 0; close(file); next }
    /^```console/    { inside = 1; file = to "console"; next }
    /^```/           { inside = 1; file = to sprintf("%02d", ++count); print where >(file ".where"); next }
    inside           { print >file; next }
    NF               { where = $0 }' CONTRIBUTING.md

# Write a block above a line, or after the last row of a table.
insert_before() { # BLOCK FILE LINE
    awk -v block="$1" -v line="$3" '
        function put(  text) { while ((getline text <block) > 0) print text; done++ }
        index($0, line) == 1 { put() }
        { print }
        END { exit done != 1 }' "$2" >"$scratch/new" && cp "$scratch/new" "$2"
}
insert_at_end() { # BLOCK FILE NAME
    awk -v block="$1" -v name="$3 = {" '
        function put(  text) { while ((getline text <block) > 0) print text; done++ }
        inside && /^};/ {
            last = match(before, /(NULL|[{]NULL[^}]*[}]),$/) ? substr(before, RSTART) : ""
            rest = substr(before, 1, length(before) - length(last))
            if (rest ~ /[^ ]/) print rest
            put()
            if (last != "") print last
            before = $0
            inside = 0
            next
        }
        index($0, name) { inside = 1 }
        NR > 1 { print before }
        { before = $0 }
        END { print before; exit done != 1 }' "$2" >"$scratch/new" && cp "$scratch/new" "$2"
}

write_block() { # BLOCK WHERE
    local before='^`([^`]+)`, before `([^`]+)`:$' end='^`([^`]+)`, at the end of `([^`]+)`:$' all='^`([^`]+)`.*:$'
    [[ $2 =~ $before || $2 =~ $end || $2 =~ $all ]] || { echo "a block without its place: $2"; return 1; }
    local file=${BASH_REMATCH[1]}
    if [[ $2 =~ $before ]]; then
        insert_before "$1" "$file" "${BASH_REMATCH[2]}"
    elif [[ $2 =~ $end ]]; then
        insert_at_end "$1" "$file" "${BASH_REMATCH[2]}"
    else
        [ ! -e "$source/$file" ] && mkdir -p "$(dirname "$file")" && cp "$1" "$file"
    fi || { echo "no place, or not one: $2"; return 1; }
}
write_blocks() {
    local where status=0
    for where in "$scratch"/blocks/*.where; do
        write_block "${where%.where}" "$(<"$where")" || status=1
    done
    return $status
}

build all
check "the copy builds" $?
write_blocks >"$scratch/log"
check "each block has a place" $?

# ---- the policy ---------------------------------------------------------------------------------

build all
check "the policy builds" $?
run 'build/spillway list policies | grep "^mru  *evicts the block touched last"'
check "the policy is listed" $?

sed -n 's/^\$ //p' "$scratch/blocks/console" >"$scratch/commands"
run "$(<"$scratch/commands")"
diff -u <(grep -v '^\$ ' "$scratch/blocks/console") "$scratch/log" >"$scratch/difference"
status=$?
cp "$scratch/difference" "$scratch/log"
check "the console shows what is printed" $status

units="build/release/tests/unit/policy/test_policy build/release/tests/unit/policy/test_policy_twin"
build "$units"
check "the tests of policies build" $?
for unit in $units; do
    run "$unit"
    check "${unit##*/} passes" $?
done

# ---- the system, the machine, the figure --------------------------------------------------------

run 'build/spillway list systems | grep "^quest-arc  *paper  *lossy"'
check "the system is listed" $?
cp -R tests/cli "$scratch/golden"
grep -o '^    UPDATE=1 tests/cli/run[.]sh .*' CONTRIBUTING.md >"$scratch/updates"
run "$(<"$scratch/updates")"
check "golden runs are rewritten" $?
diff -r -x quest_arc.case "$scratch/golden" tests/cli | grep '^>' | grep -v -e mru -e quest-arc -e ', example,' >"$scratch/log"
check "the difference is the names" $((PIPESTATUS[2] == 0))
run "sed '1,/^=== stdout/d' tests/cli/quest_arc.case |
    awk -F : '{ hit[NR] = \$2 } END { print hit[1], hit[2]; exit !(NR == 2 && hit[1] > 0 && hit[1] < 1 && hit[2] == 0) }'"
check "the system hits, and without its policy does not" $?
run 'build/spillway simulate --set model=smollm2-135m --set context=3840 --set system=quest-arc --set hardware=example |
    grep "on example, 3840 tokens"'
check "the machine runs" $?
run 'PYTHONPATH=python python3 -m spillway.papers scenarios/papers/example.yaml | grep "16GiB.*16.0 GiB.*+*0.0 %.*met"'
check "the figure is met" $?

# ---- what is forgotten is found -----------------------------------------------------------------

put_back() { # FILE
    if [ -e "$source/$1" ]; then cp "$source/$1" "$1"; else rm -f "$1"; fi
}
found() { # COMMAND TEXT: it fails, and says so
    local command="make -s -j2; $1"
    case $1 in
    make) command="make -s -j2" ;;
    test_*) command="make -s build/release/tests/unit/policy/$1; build/release/tests/unit/policy/$1" ;;
    esac
    ! run "$command" && grep -qF -- "$2" "$scratch/log"
}
preset=scenarios/systems/quest-arc.yaml
rows=0
while IFS='|' read -r _ without by says _; do
    without=$(cut -d '`' -f 2 <<<"$without")
    by=$(cut -d '`' -f 2 <<<"$by")
    says=$(cut -d '`' -f 2 <<<"$says")
    file=$without
    [[ $without == */* ]] || file=$preset
    cp "$file" "$scratch/kept"
    if [ "$file" = "$preset" ]; then sed -i "/^$without/d" "$preset"; else put_back "$without"; fi
    found "$by" "$says"
    check "without '$without' it says: $says" $?
    cp "$scratch/kept" "$file"
    rows=$((rows + 1))
done < <(awk '/^## / { inside = /forgotten/ } inside && /^[|] *`/' CONTRIBUTING.md)
[ $rows -ge 6 ]
check "the table of what is forgotten is read" $?

echo "1..$number"
exit $((failures > 0))
