#!/bin/bash
# run.sh BENCH...: run the benchmarks and write results and machine to build/bench.txt; with RECORD=1
# also append them to RESULTS.md, as a section.
set -euo pipefail
results=$(dirname "$0")/RESULTS.md

describe_machine()
{
    echo "date      $(date -u +%F)"
    echo "version   $(git describe --always --dirty 2>/dev/null || echo unknown)"
    echo "processor $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1), $(nproc) cores"
    echo "memory    $(awk '/^MemTotal/ {printf "%.0f GiB", $2 / 1048576}' /proc/meminfo)"
    echo "system    $(uname -sr)"
    echo "compiler  $("${CC:-cc}" --version | head -1), ${FLAGS:-}"
    echo "load      $(cut -d ' ' -f 1 /proc/loadavg) before, over one minute"
}

{
    describe_machine
    for bench in "$@"; do
        printf '\n%s\n' "$(basename "$bench")"
        "$bench"
    done
} | tee build/bench.txt

if [ -n "${RECORD:-}" ]; then
    printf '\n```\n%s\n```\n' "$(cat build/bench.txt)" >>"$results"
fi
