#!/bin/bash
# The harness on this machine: it is killed, interrupted and resumed, and a simulation uses its profile.
# The measured values are not checked: only that they are measured, written completely, and used.
#
# To be killed in its second group, the harness has to stay there: the emulated one stops where it is told to.
set -eu
cd "$(dirname "$0")/../.."
program=$(realpath -m "${PROGRAM:-build/spillway}")
emulated=$(realpath "${EMULATED:-build/release/spillway-calibrate-emulated}")
export SPILLWAY_DATA=$PWD
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

count=0
failed=0
echo 1..7
check() {
    count=$((count + 1))
    if [ "$1" = 0 ]; then
        echo "ok $count - $2"
    else
        sed 's/^/# /' "$scratch/said"
        echo "not ok $count - $2"
        failed=1
    fi
}
# Run in the background, with standard error in $scratch/said.
calibrate() {
    exec env EMULATOR_FAIL="${stop:-none:stop:1}" "$program" calibrate --host --quick "$@" -o "$scratch/p.yaml" 2>"$scratch/said"
}
simulate() {
    "$program" simulate --set model=smollm2-135m --set system=retroinfer-10pct --set context=3840 \
        --set batch=1 --set "hardware=$1" --json >"$scratch/result" 2>"$scratch/said" &&
        grep -q '"status":"ok"' "$scratch/result"
}
# Wait until a command succeeds. If it never does, the whole script runs out of time.
await() {
    until "$@"; do sleep 0.01; done
}

# Without nvcc, and without the part that it builds.
make --no-print-directory toolkit NVCC="$scratch/nvcc" >"$scratch/said" 2>&1 && status=0 || status=$?
[ "$status" = 2 ] && grep -q "make calibrate needs nvcc" "$scratch/said" &&
    grep -q "spillway calibrate --host" "$scratch/said" && status=0 || status=1
check $status without_nvcc_make_says_what_is_missing
mkdir "$scratch/bin"
cp "$program" "$program-calibrate" "$scratch/bin"
"$scratch/bin/spillway" calibrate -o "$scratch/none.yaml" 2>"$scratch/said" &&
    status=0 || status=$?
[ "$status" = 1 ] && [ "$(wc -l <"$scratch/said")" = 2 ] &&
    grep -q "built without CUDA" "$scratch/said" && [ ! -e "$scratch/none.yaml" ] &&
    status=0 || status=1
check $status without_cuda_one_message_says_so

# Killed in its second group: the findings of the first are complete and can be used.
cp "$emulated" "$scratch/bin/spillway-calibrate"
program=$scratch/bin/spillway
groups=(--group host-machine --group host-handoff)
stop=host-handoff:stop:1
(calibrate "${groups[@]}") &
await test -e "$scratch/p.yaml.part"
kill -KILL $!
wait $! 2>/dev/null || true
[ ! -e "$scratch/p.yaml" ] && simulate "$scratch/p.yaml.part" && status=0 || status=1
check $status a_killed_one_leaves_its_part_whole

# Interrupted after it resumed.
rm "$scratch/said"
(calibrate "${groups[@]}") &
await grep -qs '^2/2 ' "$scratch/said"
kill -INT $!
wait $! && status=0 || status=$?
[ $status = 130 ] && grep -q "^resuming from " "$scratch/said" &&
    grep -q "^spillway: interrupted" "$scratch/said" && [ ! -e "$scratch/p.yaml" ] &&
    status=0 || status=1
check $status an_interrupted_one_says_so

stop=
(calibrate "${groups[@]}") && status=0 || status=1
! grep -q '/2 host-machine' "$scratch/said" && [ ! -e "$scratch/p.yaml.part" ] || status=1
check $status the_same_command_goes_on_to_the_end

simulate "$scratch/p.yaml" && status=0 || status=1
grep -q "^extends: \"h100-sxm\"$" "$scratch/p.yaml" && grep -q "^  not_measured: \"gpu link " \
    "$scratch/p.yaml" || status=1
check $status a_simulation_uses_the_profile

# With another base, which states the curves that are not measured.
rm "$scratch/p.yaml"
(calibrate --group host-machine --base a40) &&
    simulate "{extends: $scratch/p.yaml, host: {lookup: 70ns}}" && status=0 || status=1
check $status another_file_may_extend_it
exit $failed
