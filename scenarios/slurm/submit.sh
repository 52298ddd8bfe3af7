#!/bin/bash
# A sweep on the machines of a Slurm cluster: an array job with a task a shard (shard.sh) and, when
# all are done, a job that merges their databases into FOLDER/results.db (merge.sh).
#
#   scenarios/slurm/submit.sh SHARDS FOLDER [SBATCH OPTION]... -- SIMULATE ARGUMENT...
#   scenarios/slurm/submit.sh 8 build/sweep --cpus-per-task=16 --time=2:00:00 -- scenarios/budget.yaml
#
# Run it on a machine that may call 'sbatch'. All machines have to see FOLDER and the program: PROGRAM, or
# the one built in this tree, or the one on the PATH. Each job writes a log to FOLDER/*.log. Once the jobs
# have ended, the same command again does what is left to do.
set -eu
here=$(cd "$(dirname "$0")" && pwd)

usage() {
    echo "usage: ${0##*/} SHARDS FOLDER [SBATCH OPTION]... -- SIMULATE ARGUMENT..." >&2
    exit 2
}
fail() {
    echo "${0##*/}: $1" >&2
    exit 1
}

[[ $# -ge 2 && $1 =~ ^[1-9][0-9]*$ ]] || usage
shards=$1
folder=$2
shift 2
options=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
done
[ $# -ge 2 ] || usage
shift

program=${PROGRAM:-$here/../../build/spillway}
[ -n "${PROGRAM:-}" ] || [ -x "$program" ] || program=spillway # as installed
program=$(command -v -- "$program") ||
    fail "there is no program '${PROGRAM:-build/spillway}': 'make' builds it"
command -v sbatch >/dev/null || fail "there is no 'sbatch' here: this machine submits no Slurm jobs"
mkdir -p -- "$folder"
program=$(realpath -- "$program")
folder=$(realpath -- "$folder")
[[ $folder != *\\* ]] || fail "'$folder': Slurm cannot write logs to a folder with a backslash in its name"

# What is said last holds: whatever the options are, the array is this one. Slurm replaces what stands behind
# a "%" in the name of a log.
submit() { # NAME LOG OPTION... SCRIPT ARGUMENT...
    local name=$1 log=$2
    shift 2
    sbatch "${options[@]}" --parsable --job-name="$name" --output="${folder//%/%%}/$log" "$@"
}
tasks=$(submit spillway shard-%a.log --array="1-$shards" \
    "$here/shard.sh" "$shards" "$folder" "$program" simulate "$@")
tasks=${tasks%%;*}
merge=$(submit spillway-merge merge.log --dependency="afterok:$tasks" --kill-on-invalid-dep=yes \
    "$here/merge.sh" "$shards" "$folder" "$program") || {
    scancel "$tasks"
    fail "the job that merges was refused; the others are cancelled"
}
echo "job $tasks runs $shards shards; then job ${merge%%;*} writes $folder/results.db"
