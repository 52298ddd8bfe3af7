#!/bin/bash
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:USR1@60
# A task of the array that submit.sh submits: task K runs shard K/SHARDS.
#
#   shard.sh SHARDS FOLDER PROGRAM simulate ARGUMENT...
#
# A task may be killed at any moment and started again, because its database keeps whole runs. If a
# node fails or the task is preempted, Slurm restarts it by itself. If the program is killed (for its
# memory, or by someone), and a minute before the time limit, this script puts the task back into the
# queue: RESTARTS times at most, since a point may need more than a task may have. The program says with
# 128 and the signal's number that it was interrupted; any other error that it reports is final.
set -u
RESTARTS=10

shards=$1
folder=$2
shift 2
shard=$SLURM_ARRAY_TASK_ID

# Slurm ends what still runs. The task is named by its place in the array: the job number of one of
# the tasks is also that of the whole array.
put_back() { # WHY STATUS
    if [ "${SLURM_RESTART_COUNT:-0}" -ge $RESTARTS ]; then
        echo "shard $shard/$shards: $1, after $RESTARTS restarts: it is given up" >&2
        exit "$2"
    fi
    echo "shard $shard/$shards: $1: it goes back into the queue" >&2
    exec scontrol requeue "${SLURM_ARRAY_JOB_ID}_$SLURM_ARRAY_TASK_ID"
}

trap 'put_back "the time limit is near" 1' USR1
"$@" --shard "$shard/$shards" --db "$folder/shard-$shard.db" \
    --jobs "${SLURM_CPUS_PER_TASK:-1}" &
wait $!
status=$?
if [ $status -gt 128 ]; then
    put_back "the program was ended by signal $((status - 128))" $status
fi
exit $status
