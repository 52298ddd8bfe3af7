#!/bin/bash
# A quarter of an hour on a GPU machine, in two calls. `make bundle` packs this script with the programs into one file,
# which needs a copy of the repository (models, machines, traces) around it or in the current folder.
#
#   quarter OUT measure              at most 5 minutes: the machine, its kernels beside references, a profile
#   quarter OUT validate [PROFILE]   at most 6 minutes: miniatures beside predictions from the profile that 'measure'
#                                    left (or from PROFILE, which came back); then what it lacks, or what was restless
#
# OUT gets few files: log.txt, machine.txt, clocks.csv, profile.yaml, validate.db. What a call has measured is there as
# soon as it is measured; profile.yaml.part is the profile of a call that was cut off. Another copy of the profile is
# kept in KEPT (/tmp/spillway-quarter), in case that OUT is empty at the second call.
set -u
usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
part=${2-}
case $part-$# in measure-2 | validate-2 | validate-3) ;; *) usage ;; esac
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit
: "${KEPT:=${TMPDIR:-/tmp}/spillway-quarter}"
mkdir -p "$KEPT"

# ---- the times, in seconds: each step ends when its own is over, and all of them before the call does ----

: "${PACE:=100}" # hundredths of a second that a second takes, for rehearsals on a machine that is slower than its GPU
now() {
    echo $((SECONDS * 100 / PACE))
}
FACTS=10 CUBLAS=10 KERNELS=40 VALIDATE=240 END=10
case $part in
measure) CALL=290 ;;
validate) CALL=350 ;;
esac
plan() {
    echo "== planned for '$part': $CALL s"
    echo "planned: $FACTS s  the machine"
    echo "planned: $CUBLAS s  where cuBLAS is"
    case $part in
    measure)
        echo "planned: $KERNELS s  kernels beside their references"
        echo "planned: $((CALL - FACTS - CUBLAS - KERNELS - END)) s, and what was not used: groups of figures"
        ;;
    validate)
        echo "planned: $VALIDATE s  miniatures beside their predictions"
        echo "planned: $((CALL - FACTS - CUBLAS - VALIDATE - END)) s, and what was not used: groups that are absent or restless"
        ;;
    esac
    echo "planned: $END s  the end"
}
# The seconds that are left for a step.
left() {
    echo $((CALL - END - $(now)))
}

# ---- what is said ----

# All of it goes to the log, and from there to the screen: a program that cannot be killed holds no pipe open.
log=$out/log.txt
touch "$log"
size=$(stat -c %s "$log")
tail -c "+$((size + 1))" -f --pid=$$ "$log" &
screen=$!
exec >>"$log" 2>&1

failed=0
refuse() {
    echo "quarter: $*"
    exit 2
}

# ---- steps ----

child="" helpers="" unpacked=""
quiet_kill() {
    kill "$@" 2>/dev/null
}
end() {
    # shellcheck disable=SC2086 # a word a process
    quiet_kill $helpers
    [ -z "$child" ] || quiet_kill -KILL -- "-$child"
    rm -rf "$unpacked"
    sleep 0.2
    quiet_kill "$screen"
}
trap end EXIT
trap 'exit 130' INT TERM

# Wait for at most $1 seconds until the child has ended.
await() {
    local end=$((SECONDS + $1 * PACE / 100 + 1))
    while quiet_kill -0 "$child"; do
        [ "$SECONDS" -lt "$end" ] || return
        sleep 0.1
    done
}

# Run a command in a process group of its own for at most $1 seconds. `calibrate` takes a moment to end in order. A
# program that cannot be killed, because the driver holds it, is left behind.
run() {
    local begun status=124
    begun=$(now)
    if [ "$1" -lt 2 ]; then
        echo "== no time left for: ${*:2}"
        return 1
    fi
    echo "== ${*:2}"
    set -m
    "${@:2}" </dev/null &
    child=$!
    set +m
    if await "$1"; then
        wait "$child"
        status=$?
    else
        quiet_kill -TERM -- "-$child"
        await 3 || quiet_kill -KILL -- "-$child"
        await 2 || echo "== it cannot be killed, and is left behind"
    fi
    child=
    echo "== status $status after $(($(now) - begun)) s"
    return "$status"
}

# Behind the last line of this script is what `make bundle` packed. The folder may be read-only.
unpack() {
    local line place
    line=$(grep -anm1 '^PACKED$' "$0" | cut -d: -f1)
    for place in "${TMPDIR:-/tmp}" /var/tmp /dev/shm "$out/.."; do
        unpacked=$(mktemp -d "$place/quarter.XXXXXX") && tail -n "+$((line + 1))" "$0" | tar -xz -C "$unpacked" &&
            bin=$unpacked/bin && "$bin/spillway" --version && return
        rm -rf "$unpacked"
    done
    refuse "the programs cannot be unpacked, or do not run here"
}

find_data() {
    local place
    for place in "${SPILLWAY_DATA:-.}" "$here" "$here/.." "$here/../.."; do
        [ -d "$place/hwprofiles" ] && SPILLWAY_DATA=$(cd "$place" && pwd) && export SPILLWAY_DATA && return
    done
    refuse "no folder 'hwprofiles' here: call this in a copy of the repository"
}

facts() {
    {
        cat "$bin/../commit"
        uname -a
        lscpu
        free -m
        cat /sys/kernel/mm/transparent_hugepage/enabled /sys/devices/system/clocksource/clocksource0/current_clocksource
        nvidia-smi -q
        dmesg | grep -iE 'NVRM|Xid' | tail -5
    } >"$out/machine.txt" 2>&1
    true
}

# cuBLAS comes with PyTorch or with CUDA, and has libcublasLt beside it.
find_cublas() {
    local python folder
    {
        for python in python3 python; do
            "$python" -c 'import sys; print("\n".join(filter(None, sys.path)))'
        done | sort -u | while read -r folder; do
            ls -d "$folder"/nvidia/*/lib/libcublas.so.1[123]
        done
        ls -d /usr/local/cuda*/lib64/libcublas.so.1[123]
    } >"$KEPT/cublas" 2>/dev/null
    [ -s "$KEPT/cublas" ] || find /usr /opt /home /root -name 'libcublas.so.1[123]' >"$KEPT/cublas" 2>/dev/null
    true
}

# The newest; of several, the first.
use_cublas() {
    local version found
    for version in 13 12 11; do
        found=$(grep -m1 "\.$version\$" "$KEPT/cublas") && break
    done
    echo "cuBLAS: ${found:-not found, so nothing that multiplies matrices can be measured}"
    [ -z "$found" ] || export LD_LIBRARY_PATH=${found%/*}${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
}

# Keep what is measured outside of OUT, too. A copy is as old as what it was made of, so that a file which was finished
# meanwhile is newer.
keep() {
    local from new=$KEPT/new.$BASHPID
    for from in "$out"/profile.yaml.part "$out"/profile.yaml; do
        [ ! "$from" -nt "$KEPT/profile.yaml" ] || { cp -p "$from" "$new" && mv "$new" "$KEPT/profile.yaml"; }
    done
}
keep_on() {
    while sleep 1; do keep; done 2>/dev/null
}

# `calibrate` ends in time by itself, with a profile that says what is absent.
calibrate() {
    run "$(left)" "$bin/spillway" calibrate --quick --within "$(($(left) - 3))s" -o "$out/profile.yaml" || failed=1
    [ ! -e "$out/profile.yaml.part" ] || [ -e "$out/profile.yaml" ] || mv "$out/profile.yaml.part" "$out/profile.yaml"
    keep
}

measure() {
    run "$KERNELS" "$bin/kernel-tests" "$((KERNELS - 10))" || failed=1
    calibrate
}

validate() {
    run "$VALIDATE" "$bin/spillway" validate --quick "$out/profile.yaml" smollm2-135m --db "$out/validate.db" || failed=1
    calibrate
}

# ---- the call ----

plan
unset CUDA_LAUNCH_BLOCKING # a polling kernel would wait in vain for work that is queued behind it
unpack
find_data
if [ "$part" = validate ]; then
    profile=${3:-$KEPT/profile.yaml}
    [ -e "$profile" ] || refuse "no profile to validate: name the one that 'measure' left"
    [ "$profile" -ef "$out/profile.yaml" ] || cp "$profile" "$out/profile.yaml"
fi
# Without a process that holds it, some drivers start the GPU anew for each program.
for device in /dev/nvidia[0-9]*; do
    [ ! -e "$device" ] || { sleep "$CALL" 3<"$device" & helpers+=" $!"; }
done
nvidia-smi --format=csv -lms 1000 --query-gpu=timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu \
    >>"$out/clocks.csv" 2>/dev/null &
helpers+=" $!"
keep_on &
helpers+=" $!"
run "$FACTS" facts
run "$CUBLAS" find_cublas
use_cublas
"$part"
[ "$failed" = 0 ] || echo "== something failed: look for 'not ok', 'absent' and 'status' above"
exit "$failed"
PACKED
