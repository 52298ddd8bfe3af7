#!/bin/bash
#SBATCH --requeue
#SBATCH --open-mode=append
# The job after the array that submit.sh submits: the databases of all shards become results.db.
#
#   merge.sh SHARDS FOLDER PROGRAM
set -eu
shards=$1
folder=$2
program=$3

databases=()
for ((shard = 1; shard <= shards; shard++)); do
    databases+=("$folder/shard-$shard.db")
done
exec "$program" merge "${databases[@]}" -o "$folder/results.db"
