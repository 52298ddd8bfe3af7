#!/bin/bash
# scenarios/slurm in a real Slurm on this machine: a sweep runs in 8 shards. The program of one is killed,
# that of another is asked to end, one is told that its time limit is near, and one is requeued by Slurm. The
# merged result equals that of a single process. Skipped if Slurm is missing. Needs no root.
#
# If permitted, it runs in namespaces of its own, which end with it, however it ends. Otherwise it finds
# its processes by the Slurm configuration in their environment.
set -u
cd "$(dirname "$0")/../.." || exit 1
export PATH=$PATH:/usr/sbin:/sbin
missing=
for needed in munged slurmctld slurmd sbatch; do
    command -v $needed >/dev/null || missing=$needed
done
own=(unshare --pid --fork --mount --mount-proc --uts --kill-child)
if [ "${1-}" = --inside ]; then
    hostname localhost
elif [ -z "$missing" ] && "${own[@]}" true 2>/dev/null; then
    exec "${own[@]}" "$0" --inside
fi

LIMIT=180 # seconds for all of it
SHARDS=8
PROGRAM=$(realpath "${PROGRAM:-build/spillway}")
export PROGRAM
unset SPILLWAY_DATA SINFO_FORMAT SQUEUE_FORMAT ${!SBATCH_*} ${!SLURM_*}

scratch=$(mktemp -d)
chmod 755 "$scratch" # or munged does not trust it
exec 2>"$scratch/log"

# ---- what runs here -----------------------------------------------------------------------------

# All that hold the configuration: daemons, jobs, and what became of their children.
our_processes() (
    needle=SLURM_CONF=$scratch/slurm.conf
    unset SLURM_CONF # else those that look are found
    grep -lszxF "$needle" /proc/[0-9]*/environ | cut -d/ -f3
)
stop_all() {
    local i pids signal=TERM
    for ((i = 0; i < 50; i++)); do
        pids=$(our_processes)
        [ -n "$pids" ] || return 0
        [ $i -lt 10 ] || signal=KILL
        kill -$signal $pids
        sleep 0.1
    done
    return 1
}
trap 'stop_all; wait; rm -rf "$scratch"' EXIT
trap 'exit 143' INT TERM

number=0
failures=0
check() { # NAME STATUS
    number=$((number + 1))
    if [ "$2" -eq 0 ]; then
        echo "ok $number - $1"
    else
        echo "not ok $number - $1"
        failures=$((failures + 1))
    fi
}
finish() {
    echo "1..$number"
    if [ $failures -gt 0 ]; then
        tail -n 10 "$scratch"/log "$scratch"/*.log "$scratch"/*/*.log | sed 's/^/# /'
    fi
    exit $((failures > 0))
}
# Until COMMAND succeeds. The limit of the whole test ends all waiting.
await() { # COMMAND...
    until "$@" 2>/dev/null; do
        [ $SECONDS -lt $LIMIT ] || return
        sleep 0.05
    done
}
await_or_finish() { # NAME COMMAND...
    await "${@:2}" && return
    check "$1" 1
    finish
}

# ---- without a Slurm ----------------------------------------------------------------------------

submit=$PWD/scenarios/slurm/submit.sh
usages=0
for arguments in '' 8 "8 $scratch/out" "0 $scratch/out -- a.yaml" "8 $scratch/out --"; do
    $submit $arguments
    [ $? -eq 2 ] && usages=$((usages + 1))
done
[ $usages -eq 5 ] && [ ! -e "$scratch/out" ]
check submit_says_how_it_is_used $?

SLURM_ARRAY_TASK_ID=1 scenarios/slurm/shard.sh 1 "$scratch" sh -c 'exit 7'
[ $? -eq 7 ]
check an_error_of_the_program_is_that_of_the_task $?
SLURM_ARRAY_TASK_ID=1 SLURM_RESTART_COUNT=10 \
    scenarios/slurm/shard.sh 1 "$scratch" sh -c 'kill -KILL $$'
[ $? -eq 137 ]
check a_task_that_is_killed_again_and_again_is_given_up $?

if [ -n "$missing" ]; then
    check "a_sweep_in_a_slurm # SKIP '$missing' is missing: 'make test-slurm' installs Slurm" 0
    finish
fi

# ---- a Slurm of one machine ---------------------------------------------------------------------

export SLURM_CONF=$scratch/slurm.conf

free_port() {
    local port
    while port=$((RANDOM % 20000 + 12000)) && (: <>/dev/tcp/127.0.0.1/$port) 2>/dev/null; do :; done
    echo $port
}
# Daemons listen to this machine only, where its name means that.
listen_here() {
    getent ahostsv4 "$(hostname)" | grep -q '^127\.0\.0\.1 ' &&
        echo CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
}
configure() {
    mkdir "$scratch"/{munge,state,spool}
    (umask 077 && head -c 1024 /dev/urandom >"$scratch/munge/key")
    cat >"$SLURM_CONF" <<CONF
ClusterName=spillway
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$(free_port)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
# A task that is requeued waits for as long as credentials last, and a second.
AuthInfo=socket=$scratch/munge/socket,cred_expire=5
$(listen_here)
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/spool
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/slurmd.pid
SlurmdLogFile=$scratch/slurmd-and-steps.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SlurmdParameters=config_overrides
NodeName=here NodeHostname=localhost NodeAddr=127.0.0.1 Port=$(free_port) CPUs=4
PartitionName=all Nodes=ALL Default=YES
CONF
}
start() { # DAEMON OPTION...
    "$@" >"$scratch/$1.log" 2>&1 </dev/null &
}
node_is_idle() { [ "$(timeout 10 sinfo --noheader --format=%t)" = idle ]; }

configure
start munged --foreground --key-file="$scratch/munge/key" --socket="$scratch/munge/socket" \
    --pid-file="$scratch/munge/pid" --seed-file="$scratch/munge/seed"
await_or_finish munged_starts test -S "$scratch/munge/socket"
start slurmctld -D
start slurmd -D -N here
await_or_finish slurm_starts node_is_idle

# ---- a sweep that is disturbed ------------------------------------------------------------------

# Of each shard the first point is quick, and the second takes many times as long.
sweep=(--set model=smollm2-135m --set hardware=a40 --set trace=llama-3-8b-like
    --set 'sweep={context: [1024, 32768], system: [retroinfer, litecache], batch: [1, 2, 4, 8]}')

submit_sweep() { # SHARDS FOLDER ARGUMENT...: sets `array` and `merge`
    timeout 30 $submit "$1" "$2" -- "${@:3}" >"$scratch/said" || return
    read -r array merge < <(sed -n 's/^job \([0-9]*\) .* then job \([0-9]*\) .*/\1 \2/p' \
        "$scratch/said")
}
jobs_are_over() {
    ! timeout 10 squeue --noheader --jobs="$array,$merge" --states=all --format=%T |
        grep -qvx -e COMPLETED -e FAILED -e CANCELLED
}
task_is() { # TASK STATE RESTARTS
    local job
    job=$(timeout 10 scontrol --oneliner show job "${array}_$1")
    [[ $job == *" JobState=$2 "* && $job == *" Restarts=$3 "* ]]
}
has_stored() { # TASK RUNS
    [ "$(sqlite3 -readonly "$scratch/out/shard-$1.db" 'SELECT count(*) FROM runs')" = "$2" ]
}
program_of() { # TASK
    local exe
    for exe in /proc/[0-9]*/exe; do
        if [ "$exe" -ef "$PROGRAM" ] &&
            grep -qszxF "$scratch/out/shard-$1.db" "${exe%exe}cmdline"; then
            basename "${exe%/exe}"
        fi
    done
}
# Stop the program of a task when it has stored one of its two runs, and remember the file.
hold() { # TASK
    await has_stored "$1" 1
    program_of "$1" >"$scratch/held-$1"
    kill -STOP "$(<"$scratch/held-$1")"
    ln "$scratch/out/shard-$1.db" "$scratch/kept-$1.db"
}

submit_sweep $SHARDS "$scratch/out" "${sweep[@]}"
check the_jobs_are_submitted $?
holds=()
for task in 1 2 3 4; do
    hold $task &
    holds+=($!)
done
wait "${holds[@]}"
has_stored 1 1 && has_stored 2 1 && has_stored 3 1 && has_stored 4 1
check tasks_are_disturbed_with_one_run_stored_and_one_not $?
kill -KILL "$(<"$scratch/held-1")"
timeout 30 scancel --batch --signal=USR1 "${array}_2"
timeout 30 scontrol requeue "${array}_3"
kill -TERM "$(<"$scratch/held-4")" && kill -CONT "$(<"$scratch/held-4")"
"$PROGRAM" simulate "${sweep[@]}" --db "$scratch/whole.db" >/dev/null

await_or_finish the_jobs_end jobs_are_over
task_is 1 COMPLETED 1 && grep -q 'ended by signal 9: it goes back' "$scratch/out/shard-1.log"
check a_task_whose_program_was_killed_is_requeued_and_completes $?
task_is 4 COMPLETED 1 && grep -q 'ended by signal 15: it goes back' "$scratch/out/shard-4.log"
check a_task_whose_program_was_asked_to_end_is_requeued_and_completes $?
task_is 2 COMPLETED 1 && grep -q 'time limit is near: it goes back' "$scratch/out/shard-2.log"
check a_task_near_its_time_limit_is_requeued_and_completes $?
task_is 3 COMPLETED 1
check a_task_that_slurm_requeues_completes $?
kept=0
for task in 1 2 3 4; do
    [ "$scratch/kept-$task.db" -ef "$scratch/out/shard-$task.db" ] && kept=$((kept + 1))
done
[ $kept -eq 4 ]
check a_task_goes_on_with_the_database_that_it_left $?
task_is 5 COMPLETED 0 && task_is 8 COMPLETED 0
check tasks_that_nothing_disturbs_run_once $?

dump() { sqlite3 -readonly "$1" .dump | grep -v 'INTO turns'; }
grep -qx "16 runs added to $scratch/out/results.db" "$scratch/out/merge.log" &&
    cmp <(dump "$scratch/whole.db") <(dump "$scratch/out/results.db")
check the_merged_database_is_that_of_one_process $?

cd "$scratch" # for a folder whose name begins with a dash
submit_sweep 1 "-wrong%j" --set model=nonsense
await_or_finish the_jobs_of_a_wrong_sweep_end jobs_are_over
task_is 1 FAILED 0 && [ -e "./-wrong%j/shard-1.log" ] && [ ! -e "./-wrong%j/results.db" ]
check an_error_is_final_and_nothing_is_merged $?

stop_all
check nothing_is_left_running $?
finish
