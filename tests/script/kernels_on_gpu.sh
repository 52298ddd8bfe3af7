#!/bin/bash
# Compares the kernels with their twins on the GPU, if there is one. The emulator tests them on every
# machine.
set -u
cd "$(dirname "$0")/../.."
skip() {
    echo "1..1"
    echo "ok 1 - kernels on a GPU # SKIP $1"
    exit 0
}
nvidia-smi -L >/dev/null 2>&1 || skip "no GPU here"
command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || skip "no nvcc here"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! make -s build/spillway-calibrate-test-kernels >"$log" 2>&1; then
    echo "1..1"
    echo "not ok 1 - the tests of the kernels build"
    sed 's/^/# /' "$log"
    exit 1
fi
build/spillway-calibrate-test-kernels
