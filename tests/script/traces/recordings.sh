#!/bin/bash
# The shipped recordings: they are those of traces/SHA256SUMS and of the page, and every system runs on them.
set -u
cd "$(dirname "$0")/../../.."
program=$(realpath "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. tests/script/tap.bash
exec 2>"$scratch/said"
families=(smollm2-135m qwen2.5-coder-0.5b gemma-3-270m)

# The names in SHA256SUMS and in the table of traces/README.md are those of the files, and the hashes hold.
hashes_are_true() {
    (cd traces && sha256sum --check --strict --quiet SHA256SUMS && diff <(ls -- *.swt) <(sed -n 's/^[0-9a-f]*  //p' SHA256SUMS)) >&2
}
table_is_whole() {
    diff <(basename -s .swt traces/*.swt | sort) <(sed -nE 's/^\| `([^`]+)` \|.* × .*/\1/p' traces/README.md | sort) >&2
}

all_are_whole() {
    for file in traces/*.swt; do
        "$program" trace verify "$file" >/dev/null || return 1
    done
}

fit_into_40_mb() {
    find traces -type f ! -name '*.pyc' -printf '%s\n' | awk '{ sum += $1 } END { exit sum > 40000000 }'
}

# systems TRACES SYSTEMS: the runs that failed or whose cache was still filling.
systems() {
    cat >"$scratch/all.yaml" <<END
model: llama-3-8b
hardware: h100-sxm
context: 8192
sweep: {trace: [$1], system: [$2]}
END
    "$program" simulate "$scratch/all.yaml" >"$scratch/table" || return 1
    ! grep 'still filling' "$scratch/table" >&2
}
every_system_runs() {
    local all
    all=$(basename -s .yaml scenarios/systems/*.yaml | paste -sd,)
    systems gemma-3-270m "$all"
}
widest_and_coldest_run() { # 25 % of this context; queries; a cache of 30 %
    systems "$(printf '%s-code,' "${families[@]}")qwen2.5-coder-0.5b" hisparse,clo,retroinfer
}
longs_run() { systems smollm2-135m-return,qwen2.5-coder-0.5b-long,gemma-3-270m-long h2o,retroinfer; }

echo 1..7
check 'traces/SHA256SUMS has each recording and its hash' hashes_are_true
check 'the table of traces/README.md has each recording' table_is_whole
check 'each recording is whole' all_are_whole
check 'all traces together take at most 40 MB' fit_into_40_mb
check 'every system runs on Gemma' every_system_runs
check 'wide selections, reuse and warm caches run on each wide recording' widest_and_coldest_run
check 'policies that drop KV and warm caches run on long recordings' longs_run
exit $failed
