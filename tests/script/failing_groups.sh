#!/bin/bash
# A failure in each GPU group in turn, on the emulated GPU (tests/kernels/emulator/clock.cu): the profile is
# written all the same, with the figures of another group, and says what is absent and why. The same command
# without the failure then measures that group alone: tried for the groups that are quick on the emulated GPU
# (emulated_groups.sh measures all).
set -eu
cd "$(dirname "$0")/../.."
. tests/script/tap.bash
program=${EMULATED:-build/release/spillway-calibrate-emulated}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SPILLWAY_DATA=$PWD
profile=$scratch/p.yaml

# A line a group: the GPU's memory in MiB, the group, whether it measures rates (only they can be impossibly
# high), and a figure of it if it is quick.
groups() {
    cat <<'END'
2304 gpu-memory rates
128 launch no-rates
128 flags no-rates gpu.flag
128 link-copies rates link.h2d
128 link-blocks rates link.calls_in
48 link-beside rates
128 link-loads rates link.zero_copy
128 link-sharing rates link.duplex
128 link-stores no-rates link.coherent
128 attention rates
3500 products no-rates
64 selection no-rates
640 layer no-rates
END
}
reason_of() {
    case $1 in
    fail) echo 'unspecified launch failure' ;;
    hang) echo 'not done after .* s, and killed' ;;
    die) echo 'ended by signal 11' ;;
    nonsense) echo '\( is \|, above the peak of \)' ;;
    esac
}
# calibrate MEMORY GROUP FAILURE
calibrate() {
    EMULATOR_MEMORY=$1 EMULATOR_FAIL=$3 "$program" calibrate --quick --group "$2" --group host-machine \
        -o "$profile" >"$scratch/said" 2>&1
}
has() {
    grep -A 5 "^  $1:\$" "$profile" | grep -q "^    $2"
}
# The number of the call that fails: most groups then measure.
call_of() {
    [ "$1" = link-stores ] && echo 5 || echo 40
}
# fails MEMORY GROUP KIND: the first failure leaves the figures of host-machine, later ones keep them.
fails() {
    calibrate "$1" "$2" "$2:$3:$(call_of "$2")" && return 1
    has "group.$2" "absent: \".*$(reason_of "$3")" && has host.cores 'points:' &&
        grep -q '^  groups: "host-machine"$' "$profile" && [ ! -e "$profile.part" ] || return
    [ "$3" = die ] || ! grep -q '/2 host-machine' "$scratch/said"
}
recovers() {
    calibrate "$1" "$2" none:die:1 && has "$3" 'points:' && ! grep -q "^  group\.$2:" "$profile" &&
        grep -q "^  groups: \"host-machine $2\"\$" "$profile" && ! grep -q '/2 host-machine' "$scratch/said"
}

echo "1..$((3 * $(groups | wc -l) + $(groups | grep -c ' rates') + $(groups | grep -c 'rates .') + 2))"
while read -r memory group rates figure; do
    rm -f "$profile"
    kinds='die hang fail'
    [ "$rates" = no-rates ] || kinds+=' nonsense'
    for kind in $kinds; do
        check "$group: $kind" fails "$memory" "$group" "$kind"
    done
    [ -z "$figure" ] ||
        check "$group: measured by the same command" recovers "$memory" "$group" "$figure"
done < <(groups)
rm -f "$profile"
for kind in die hang; do
    check "host-handoff: $kind" fails 128 host-handoff $kind
done
exit $failed
