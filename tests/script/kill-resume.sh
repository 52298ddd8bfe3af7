#!/bin/bash
# Kill a sweep with SIGKILL at forty random moments. Whenever a resumed sweep finishes, its database
# equals that of a sweep that was never killed, row for row.
set -eu
cd "$(dirname "$0")/../.."
program=$(realpath -m "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

KILLS=40
SEED=7

sweep() {
    exec "$program" simulate --set model=smollm2-135m --set hardware=a40 --set context=3840 \
        --set 'sweep.system=[retroinfer, retroinfer-fifo]' \
        --set 'sweep.batch=[1, 2, 3, 4, 6, 8]' --jobs 2 --db "$1"
}
dump() {
    sqlite3 "$1" .dump
}

(sweep "$scratch/whole.db") >/dev/null
dump "$scratch/whole.db" >"$scratch/whole.sql"
start=$(date +%s%N)
(sweep "$scratch/timed.db") >/dev/null
took=$((($(date +%s%N) - start) / 1000)) # microseconds

RANDOM=$SEED
kills=0
ends=0
wrong=0
while [ $kills -lt $KILLS ]; do
    (sweep "$scratch/killed.db") >/dev/null 2>&1 &
    sleep "$(printf '0.%06d' $((RANDOM * took / 32768 % 1000000)))"
    if kill -KILL $! 2>/dev/null; then
        kills=$((kills + 1))
    fi
    wait $! 2>/dev/null && status=0 || status=$?
    if [ $status -eq 0 ]; then
        ends=$((ends + 1))
        dump "$scratch/killed.db" | cmp -s - "$scratch/whole.sql" || wrong=$((wrong + 1))
        rm -f "$scratch"/killed.db*
    fi
done
(sweep "$scratch/killed.db") >/dev/null
dump "$scratch/killed.db" | cmp -s - "$scratch/whole.sql" || wrong=$((wrong + 1))

echo 1..1
echo "# seed $SEED: $kills kills, $((ends + 1)) ends, $wrong of them with another database"
if [ $wrong -eq 0 ]; then
    echo 'ok 1 - a_killed_sweep_resumes_to_the_same_rows'
else
    echo 'not ok 1 - a_killed_sweep_resumes_to_the_same_rows'
fi
exit $wrong
