#!/bin/bash
# What --deploy of `advise` and `plan` writes: documented flags, manifests of the right form, the same command in all
# of them, which runs nothing else, whatever a model is called.
set -eu
cd "$(dirname "$0")/../.."
program=$(realpath -m "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache SPILLWAY_DATA=$PWD PYTHONDONTWRITEBYTECODE=1
if ! command -v python3 >/dev/null; then
    echo '1..0 # SKIP python3 is missing'
    exit 0
fi
requests=synthetic:prompt=500,output=50,requests=100
"$program" advise smollm2-135m a40 --context 4K --tpot 50ms --deploy "$scratch/batch" >"$scratch/said"
"$program" advise smollm2-135m a40 --rate 40 --workload $requests --ttft 2s --deploy "$scratch/hire" >"$scratch/said"
"$program" plan --set model=smollm2-135m --set hardware=a40 --set workload=$requests --set system=lmcache --set rate=2 \
    --minimise 'host_memory=[1GiB, 8GiB]' --target 'ttft_p99_ms<=2s' --deploy "$scratch/plan" >"$scratch/said"
"$program" advise Llama-3.1-70B-Instruct h100 --gpus 4 --context 4400 \
    --set 'drafts={count: 3, method: eagle3, acceptance: 60%}' --deploy "$scratch/drafts" >"$scratch/said"
"$program" plan --set model=smollm2-135m --set hardware=a40 --set system=vllm --set rate=2 \
    --set workload=synthetic:prompt=500,output=50,prefix=256,prefixes=4,requests=100 \
    --minimise 'host_memory=[1GiB, 8GiB]' --target 'ttft_p99_ms<=2s' --deploy "$scratch/prefixes" >"$scratch/said"
python3 tests/script/deploy.py "$scratch/batch" "$scratch/hire" "$scratch/plan" "$scratch/drafts" "$scratch/prefixes"
python3 tests/script/deploy_names.py "$program" "$scratch"
# The benchmark's own record is what `compare` reads, beside the scenario that was written.
cd "$scratch/hire"
"$program" simulate scenario.yaml --db predicted.db >"$scratch/table"
printf '{"mean_ttft_ms": 20, "median_ttft_ms": 18, "mean_tpot_ms": 3, "request_throughput": 40}' >measured.json
if "$program" compare predicted.db --measured measured.json >"$scratch/compared" 2>&1; then
    echo 'ok - compare reads the prediction beside a measurement'
else
    sed 's/^/# /' "$scratch/compared"
    echo 'not ok - compare reads the prediction beside a measurement'
    exit 1
fi
