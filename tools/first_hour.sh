#!/bin/bash
# The first hour on a GPU machine, in parts. `make bundle` packs this script beside the programs.
#
#   first_hour OUT [check|quick|full|validate|diag]...
#
#   check     facts of the machine; kernels and miniatures beside their references. Believe no figure before it passes
#   quick     a profile from few samples, and its validation
#   full      the whole profile; called again, it measures what is still missing
#   validate  miniatures beside the whole profile, at two contexts; called again, it shows the spread of two runs
#   diag      Nsight Compute and compute-sanitizer, where they are installed
#
# Without a part: check and quick. A call ends within CALL_SECONDS (575), for a machine that grants ten minutes at a
# time. The folder OUT keeps everything: log.txt, machine.txt, smi.csv (clocks, each second), profiles, databases.
set -u
usage() {
    sed -n '2,/^set/s/^# \{0,1\}//p' "$0" >&2
    exit 2
}
case ${1:-} in '' | -* | check | quick | full | validate | diag) usage ;; esac # a folder was forgotten
bin=$(cd "$(dirname "$0")" && pwd)/bin
mkdir -p "$1" && out=$(cd "$1" && pwd) || exit
shift
[ $# -gt 0 ] || set -- check quick
for part in "$@"; do
    case $part in check | quick | full | validate | diag) ;; *)
        echo "first_hour: unknown part '$part': check, quick, full, validate or diag" >&2
        exit 2
        ;;
    esac
done
: "${CALL_SECONDS:=575}"
unset CUDA_LAUNCH_BLOCKING # a polling kernel would wait in vain for work that is queued behind it
failed=0
child=

# cuBLAS comes with CUDA, or with Python packages. The programs look in /usr/local/cuda/lib64 themselves.
cublas=$(timeout 20 find /usr /opt -name 'libcublas.so.1[123]' -printf '%f %p\n' 2>/dev/null | sort -V | tail -1)
cublas=${cublas#* }
[ -z "$cublas" ] || export LD_LIBRARY_PATH=${LD_LIBRARY_PATH:+$LD_LIBRARY_PATH:}${cublas%/*}

# All that is said goes to the log, and from there to the screen: a program that cannot be killed holds no pipe open.
log=$out/log.txt
touch "$log"
size=$(stat -c %s "$log")
tail -c "+$((size + 1))" -f --pid=$$ "$log" &
screen=$!
exec >>"$log" 2>&1

nvidia-smi --format=csv -lms 1000 --query-gpu=timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu \
    >>"$out/smi.csv" 2>/dev/null &
clocks=$!
trap 'kill $clocks $child 2>/dev/null; sleep 0.2; kill $screen' EXIT
trap 'exit 130' INT TERM

# Run a command for at most $1 seconds, and no longer than this call has left. `calibrate` takes some seconds to end
# in order, so that it can go on later.
run() {
    local begun=$SECONDS left=$((CALL_SECONDS - SECONDS)) status
    if [ "$left" -lt 10 ]; then
        echo "== no time left for: ${*:2}"
        failed=1
        return 1
    fi
    echo "== ${*:2}"
    timeout -k 15 "$(($1 < left ? $1 : left))" "${@:2}" &
    child=$!
    wait "$child"
    status=$?
    child=
    echo "== status $status after $((SECONDS - begun)) s"
    [ "$status" = 0 ] || failed=1
    return "$status"
}

# The state of the machine, before and after what it may explain.
state() {
    grep -E '^Mem(Total|Free|Available)' /proc/meminfo
    nvidia-smi --format=csv --query-gpu=pstate,clocks.sm,clocks.mem,power.draw,temperature.gpu,memory.used
    nvidia-smi --format=csv --query-gpu=pcie.link.gen.current,pcie.link.width.current
    dmesg 2>/dev/null | grep -iE 'NVRM|Xid|out of memory' | tail -5
}

facts() {
    cat "$bin/../commit"
    uname -a
    lscpu
    cat /sys/kernel/mm/transparent_hugepage/enabled /sys/devices/system/clocksource/clocksource0/current_clocksource
    nvidia-smi -q
}

check() {
    facts >"$out/machine.txt" 2>&1
    echo "cuBLAS: ${cublas:-not found, so nothing that multiplies matrices can be measured}"
    state
    run 240 "$bin/spillway-calibrate-test-kernels"
}

quick() {
    run 200 "$bin/spillway" calibrate --quick -o "$out/quick.yaml"
    [ -e "$out/quick.yaml" ] || return
    run 120 "$bin/spillway" validate --quick "$out/quick.yaml" smollm2-135m --db "$out/quick.db"
}

# A group that failed is absent from the profile, with its reason, and is tried once more.
full() {
    state
    run "$CALL_SECONDS" "$bin/spillway" calibrate -o "$out/full.yaml" ||
        run "$CALL_SECONDS" "$bin/spillway" calibrate -o "$out/full.yaml"
    state
}

validate() {
    local db
    db=$out/validate-$(date -u +%H%M%S).db
    [ -e "$out/full.yaml" ] || { echo "== no profile to validate: first_hour $out full"; failed=1; return; }
    run "$CALL_SECONDS" "$bin/spillway" validate "$out/full.yaml" smollm2-135m --db "$db"
    run "$CALL_SECONDS" "$bin/spillway" validate "$out/full.yaml" smollm2-135m --context 131072 --db "$db"
    state
}

diag() {
    local group tool metrics=gpu__time_duration.sum,dram__bytes_read.sum
    PATH=$PATH:/usr/local/cuda/bin:$(find /opt/nvidia/nsight-compute -maxdepth 1 2>/dev/null | sort -V | tail -1)
    metrics+=,dram__throughput.avg.pct_of_peak_sustained_elapsed
    for group in attention selection; do
        run 90 ncu --target-processes all --clock-control none --metrics "$metrics" -c 10 --kill yes \
            -k 'regex:attend|merge|select|count|score' \
            "$bin/spillway" calibrate --quick --group "$group" -o "$out/diag-$group.yaml"
    done
    for tool in memcheck racecheck; do
        run 180 compute-sanitizer --tool "$tool" "$bin/spillway-calibrate-test-kernels"
    done
}

nvidia-smi -L || echo "== no GPU is seen here: is its driver installed?"
for part in "$@"; do
    "$part"
done
[ "$failed" = 0 ] || echo "== something failed: look for 'status' above; the same call again measures what is absent"
exit "$failed"
