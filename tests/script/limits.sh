#!/bin/bash
# Commands that once took many GiB take less than one: of many equal micro-batches few are timed, and
# requests keep what others may look for.
# `make limits` measures this over shipped models, machines and systems.
set -eu
cd "$(dirname "$0")/../.."
. tests/script/tap.bash
program=${PROGRAM:-build/spillway}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# COMMAND...: it ends in 1 GiB of address space. Stacks and malloc's arenas of many threads
# would take more than that without being used.
within_a_gibibyte() {
    (ulimit -v 1048576 -s 1024 && MALLOC_ARENA_MAX=1 "$program" "$@" --no-cache >"$scratch/said" 2>&1)
}
says_the_same_within_it() {
    within_a_gibibyte "$@" && "$program" "$@" --no-cache 2>&1 | cmp -s - "$scratch/said"
}

# A page of 4800 runs, those of a sweep, each 48 times: more than it shows. `make limits` has one of 60 000.
page_of_many_runs() {
    "$program" simulate --set model=smollm2-135m --set hardware=a40 --set system=fullattn --json --no-cache \
        --set 'sweep.context=[512, 1K, 2K, 4K]' --set "sweep.batch=[$(seq -s, 25)]" --db "$scratch/runs.db" \
        >/dev/null 2>&1 &&
        sqlite3 "$scratch/runs.db" "CREATE TABLE more AS SELECT * FROM runs,
                (SELECT value AS copy FROM json_each('[$(seq -s, 2 48)]'))" \
            "UPDATE more SET run = substr(run, 3) || printf('%02d', copy),
                scenario = replace(scenario, '\"seed\": \"1\"', '\"seed\": \"' || copy || '\"')" \
            "ALTER TABLE more DROP COLUMN copy" "INSERT INTO runs SELECT * FROM more" "DROP TABLE more" &&
        (ulimit -v 120000 -s 1024 && MALLOC_ARENA_MAX=1 "$program" report "$scratch/runs.db" \
            -o "$scratch/page.html") && grep -q '>This page is of 4000 of 4800 runs' "$scratch/page.html"
}

echo 1..4
check 'advice on very short sequences' says_the_same_within_it advise llama-3.1-8b a40 --context 1
check 'the largest batches of systems that stream weights, and their prefill' within_a_gibibyte simulate \
    --set model=qwen2.5-0.5b --set hardware=h200 --set context=1K --set prompt=512 --set output=64 \
    --set batch=max --set 'sweep.system=[flexgen, capture, token-recompute]'
check 'requests with prefixes' within_a_gibibyte simulate \
    --set model=qwen2.5-0.5b --set hardware=h200 --set system=vllm --set rate=50 \
    --set workload=synthetic:prompt=1000,output=20,prefix=200,prefixes=1000,requests=100000
check 'a page of 4800 runs' page_of_many_runs
exit $failed
