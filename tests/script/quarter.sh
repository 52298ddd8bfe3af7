#!/bin/bash
# A quarter of an hour on a GPU (tools/quarter.sh), rehearsed as it would be called, with an emulated one: one
# file, in a folder that cannot be written to, without nvidia-smi. What goes wrong costs no more than its own
# time, and the profile that is left loads and says what is absent.
#
# What this proves: the steps, their budgets, which groups are ended by them and which are not, the files. The
# emulator's clock runs while its GPU works, and flies while a process hangs; a host that computes costs no
# time. So nothing here says how long a GPU takes to start, or whether a group's budget is enough for it. The
# script's own clock is the machine's, at a pace at which no load of the machine matters.
set -u
cd "$(dirname "$0")/../.." || exit
. tests/script/tap.bash
scratch=$(mktemp -d)
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
unset SPILLWAY_DATA
export TMPDIR=$scratch/tmp KEPT=$scratch/kept EMULATOR_MEMORY=128,gpu-memory=2304,products=3500,layer=640,link-beside=48
out=$scratch/out
program=${PROGRAM:-build/spillway}
groups=$(sed -nE 's/^ +\{"([a-z-]+)", .*/\1/p' calibrate/harness/gpu_groups.cu calibrate/host/groups.c | grep -vx host-machine)
mkdir "$scratch/bin" "$scratch/tmp"
printf '#!/bin/bash\nexec sleep 1000\n' >"$scratch/bin/nvidia-smi"
chmod +x "$scratch/bin/nvidia-smi"

# No call of a host's group can fail, and only rates can be impossibly high.
only_fails() { # GROUP
    case $1 in host-* | launch | flags | link-stores | products | selection | layer) ;; *) return 1 ;; esac
}
# One line of EMULATOR_FAIL: these groups go wrong, most of them in their 40th call, when they measure.
failures() { # KIND GROUP...
    local group number kind
    for group in "${@:2}"; do
        number=${CALL:-40} kind=$1
        case $group in
        host-* | link-stores) number=5 ;;
        esac
        case $kind-$group in
        fail-host-*) kind=die ;;
        nonsense-*) ! only_fails "$group" || kind=die ;;
        esac
        echo -n ",$group:$kind:$number"
    done
}
quarter() { # PACE FAILURES ARGUMENT...
    PACE=$1 EMULATOR_FAIL=$2 "$scratch/folder/quarter" "$out" "${@:3}" >"$scratch/said" 2>&1
}
simulates() {
    "$program" simulate --set model=smollm2-135m --set system=retroinfer-10pct --set context=3840 --set hardware="$1" --json >"$scratch/row" 2>>"$scratch/said" && grep -q '"status":"ok"' "$scratch/row"
}
# The sum of planned times, of the lines of the script (whole seconds) or of the harness (with a decimal).
planned() {
    grep -oE "^planned: *$1 s" "$out/log.txt" | awk '{ sum += $2 } END { print sum }'
}
at_most() {
    awk "BEGIN { exit !($1 > 0 && $1 <= $2) }" || { echo "$1, at most $2" >>"$scratch/said"; return 1; }
}
# The groups of a call end before it does, on the emulator's clock.
ends_in_time() {
    at_most "$(planned '[0-9]+')" "$1" && at_most "$(planned '[0-9]+\.[0-9]')" "$1" &&
        at_most "$(sed -n 's/^done \(.*\) s before the end$/\1/p' "$out/log.txt" | tail -1)" "$1" && [ "$(ls "$out" | wc -l)" -le 8 ]
}
packs() {
    tools/bundle.sh "$scratch/folder/quarter" "$program" build/release/spillway-calibrate-emulated \
        build/release/tests/kernels/test_kernels >"$scratch/said" 2>&1 && chmod a-w "$scratch/folder" "$scratch/folder/quarter"
}
# With the copy of the repository that goes along.
fits() {
    local tracked bundle
    tracked=$(git ls-files -z 2>/dev/null | xargs -0 stat -c %s | awk '{ sum += $1 } END { print sum }')
    bundle=$(stat -c %s build/bundle/quarter 2>/dev/null || echo $((12 << 20)))
    [ -n "$tracked" ] && at_most "$tracked + $bundle" $((64 << 20))
}
# Each group but one goes wrong: hangs until its time is over, and so do nvidia-smi and the tests of kernels.
goes_wrong() { # KIND PACE REASON
    local group
    rm -rf "$out" "$KEPT"
    quarter "$2" "kernel-tests:${1/nonsense/die}:50$(failures "$1" $groups)" measure
    [ $? = 1 ] && ends_in_time 300 && simulates "$out/profile.yaml" && cmp -s "$out/profile.yaml" "$KEPT/profile.yaml" || return
    for group in $groups; do
        grep -A 4 "^  group.$group:\$" "$out/profile.yaml" | grep -qE "absent: \".*($3)" ||
            { echo "$group: not absent for: $3" >>"$scratch/said"; return 1; }
    done
}
# Each group goes wrong in turn, beside one that does not.
in_turn() { # KIND REASON
    local group other status profile=$scratch/turn.yaml
    for group in $groups; do
        ! { [ "$1" = nonsense ] && only_fails "$group"; } || continue
        other=flags
        [ "$group" != flags ] || other=launch
        rm -f "$profile"
        EMULATOR_FAIL=none:die:1$(CALL=${CALL:-10} failures "$1" "$group") build/release/spillway-calibrate-emulated calibrate --quick \
            --group "$group,$other" -o "$profile" >"$scratch/said" 2>&1
        status=$?
        grep -A 4 "^  group.$group:\$" "$profile" | grep -qE "absent: \".*($2)" && ! grep -q "^  group.$other:" "$profile" &&
            [ $status = 1 ] && simulates "$profile" || { echo "$group in turn" >>"$scratch/said"; return 1; }
    done
}
# Killed by the machine, without a chance to end.
is_cut_off() {
    rm -rf "$out" "$KEPT"
    PACE=1000 EMULATOR_FAIL=kernel-tests:die:50,link-sharing:stop:40 setsid "$scratch/folder/quarter" "$out" measure \
        >"$scratch/said" 2>&1 &
    until [ -e "$KEPT/profile.yaml" ]; do sleep 0.1; done
    ps -o pid= -s $! | xargs kill -KILL
    wait $! 2>/dev/null
    simulates "$out/profile.yaml.part" && simulates "$KEPT/profile.yaml" && grep -q '^  not_measured: "gpu ' "$KEPT/profile.yaml"
}
# After that: OUT is empty again, the miniatures hang, every kernel takes three times as long, and the groups
# that compute longest end at once. All the rest is measured.
goes_on() {
    local longest='attention gpu-memory host-policy launch link-beside products'
    rm -rf "$out"
    EMULATOR_SLOW=3 quarter 5000 "mini:hang:20$(printf ',%s:die:5' $longest)" validate
    [ $? = 1 ] && grep -q '^spillway: not done after 75 s, and killed' "$out/log.txt" && ends_in_time 360 &&
        simulates "$out/profile.yaml" && [ "$(sed -n 's/^  group\.\([a-z-]*\).*/\1/p' "$out/profile.yaml" | sort | xargs)" = "$longest" ] &&
        cmp -s "$out/profile.yaml" "$KEPT/profile.yaml"
}
asks_for_a_profile() {
    rm -rf "$out" "$KEPT"
    quarter 100 none:die:1 validate
    [ $? = 2 ] && grep -q 'no profile to validate' "$scratch/said"
}
# Root may write in a folder that cannot be written to.
leaves_its_folder_alone() {
    [ "$(ls -A "$scratch/folder")" = quarter ]
}

echo 1..10
check 'it is packed into one file' packs
check 'with a copy of the repository it is below 64 MiB' fits
PATH=$scratch/bin:$PATH check 'all hangs' goes_wrong hang 50 'not done after .* s, and killed'
SPILLWAY_DATA=$PWD check 'each group fails in turn' in_turn fail .
CALL=40 SPILLWAY_DATA=$PWD check 'each group returns nonsense in turn' in_turn nonsense ' is |above the peak of '
check 'all dies' goes_wrong die 1000 'ended by signal 11'
check 'the first call is cut off' is_cut_off
check 'the second call goes on' goes_on
check 'without a profile the second call asks for one' asks_for_a_profile
check 'no call has written to the folder of the bundle' leaves_its_folder_alone
exit $failed
