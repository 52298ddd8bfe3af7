#!/bin/bash
# What --deploy of `advise` and `plan` writes: documented flags, manifests of the right form, the same command
# in all of them, which runs nothing else, whatever a model is called.
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
"$program" advise smollm2-135m a40 --rate 40 --workload $requests --ttft 2s --deploy "$scratch/fleet" >"$scratch/said"
"$program" plan --set model=smollm2-135m --set hardware=a40 --set workload=$requests --set system=lmcache --set rate=2 \
    --minimise 'host_memory=[1GiB, 8GiB]' --target 'ttft_p99_ms<=2s' --deploy "$scratch/plan" >"$scratch/said"
"$program" advise Llama-3.1-70B-Instruct h100 --gpus 4 --context 4400 \
    --set 'drafts={count: 3, method: eagle3, acceptance: 60%}' --deploy "$scratch/drafts" >"$scratch/said"
"$program" plan --set model=smollm2-135m --set hardware=a40 --set system=vllm --set rate=2 \
    --set workload=synthetic:prompt=500,output=50,prefix=256,prefixes=4,requests=100 \
    --minimise 'host_memory=[1GiB, 8GiB]' --target 'ttft_p99_ms<=2s' --deploy "$scratch/prefixes" >"$scratch/said"
"$program" plan --set model=smollm2-135m --set hardware=a40 --set system=vllm --set rate=2 --maximise 'max_sequences=[8, 16]' \
    --set workload=synthetic:prompt=500,output=50,turns=8,think=30s --target 'tpot_ms<=1s' \
    --deploy "$scratch/sessions" >"$scratch/said"
"$program" plan --set model=smollm2-135m --set hardware=a40 --set system=vllm --maximise 'clients=[4, 8]' \
    --set workload=$requests --target 'tpot_ms<=1s' --deploy "$scratch/clients" >"$scratch/said"
"$program" plan --set model=smollm2-135m --set hardware=a40 --set system=vllm --set rate=2 --set replicas=2 \
    --set routing=prefix-load --set workload=synthetic:prompt=500,output=50,requests=100 --maximise 'max_sequences=[8, 16]' \
    --target 'tpot_ms<=1s' --deploy "$scratch/router" >"$scratch/said"
"$program" plan --set model=smollm2-135m --set hardware=a40 --set system=vllm --set rate=2 --set replicas=2 \
    --set routing=least-requests --set workload=synthetic:prompt=500,output=50,requests=100 \
    --maximise 'max_sequences=[8, 16]' --target 'tpot_ms<=1s' --deploy "$scratch/balancer" >"$scratch/said"
python3 tests/script/deploy.py "$scratch/batch" "$scratch/fleet" "$scratch/plan" "$scratch/drafts" "$scratch/prefixes" \
    "$scratch/sessions" "$scratch/clients" "$scratch/router" "$scratch/balancer"
"$program" simulate --from "$scratch/balancer/kubernetes.yaml" --set hardware=a40 --set rate=2 --set workload=$requests \
    2>&1 >"$scratch/said" | grep -q 'routing=least-requests' || printf 'not '
echo 'ok - the balancer of kubernetes.yaml is read back'
grep -q '^# Not sent as predicted: a turn' "$scratch/sessions/benchmark.sh" &&
    grep -q -- '--max-concurrency 8' "$scratch/clients/benchmark.sh" &&
    ! grep -q -- --self-timed "$scratch/clients/benchmark.sh" && grep -q -- --self-timed "$scratch/sessions/benchmark.sh" &&
    echo 'ok - the benchmark waits as clients do, and says what it does not send'
# What is printed beside the benchmark is what this program predicts of the very requests that it sends.
for folder in fleet plan prefixes sessions clients router balancer; do
    (cd "$scratch/$folder" && "$program" simulate benchmark.yaml --json) |
        python3 -c 'import json, re, sys
run = json.load(sys.stdin)
told = re.search("of these requests.*: (\S+) tokens a second, TTFT p99 (\S+) ms", open(sys.argv[1]).read())
near = [abs(float(text) / run[key] - 1) < 0.006 for text, key in zip(told.groups(), ("decode_tokens_per_s", "ttft_p99_ms"))]
sys.exit(0 if all(near) else f"{told.groups()} {run}")' "$scratch/$folder/benchmark.sh" || failed=1
    [ "${failed:-0}" = 0 ] || printf 'not '
    echo "ok - $folder: the figures beside the benchmark are those of the requests that it sends"
done
python3 tests/script/deploy_names.py "$program" "$scratch"
# The benchmark's own record is what `compare` reads, beside the scenario that was written.
cd "$scratch/fleet"
"$program" simulate benchmark.yaml --db predicted.db >"$scratch/table"
printf '{"mean_ttft_ms": 20, "median_ttft_ms": 18, "mean_tpot_ms": 3, "request_throughput": 40}' >measured.json
if "$program" compare predicted.db --measured measured.json >"$scratch/compared" 2>&1; then
    echo 'ok - compare reads the prediction beside a measurement'
else
    sed 's/^/# /' "$scratch/compared"
    echo 'not ok - compare reads the prediction beside a measurement'
    exit 1
fi

# Nothing is replaced: a folder that exists is refused, before anything is computed.
mkdir "$scratch/theirs" && echo theirs >"$scratch/theirs/README.md"
"$program" advise smollm2-135m a40 --context 4K --deploy "$scratch/theirs" >"$scratch/said" 2>&1 && failed=1 || failed=0
[ $failed = 0 ] && grep -q 'cannot be made: File exists' "$scratch/said" && [ -x "$scratch/batch/vllm.sh" ] &&
    [ "$(ls -A "$scratch/theirs")$(cat "$scratch/theirs/README.md")" = README.mdtheirs ] || failed=1
[ $failed = 0 ] || printf 'not '
echo 'ok - a folder that exists is refused, and left as it was; a script may be run'
exit $failed
