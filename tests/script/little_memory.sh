#!/bin/bash
# Groups on an emulated GPU with little memory: a buffer that was halved is in the notes of what was
# measured with it; a group that cannot do with what is free fails and says how much it needs.
set -eu
cd "$(dirname "$0")/../.."
. tests/script/tap.bash
program=${EMULATED:-build/release/spillway-calibrate-emulated}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SPILLWAY_DATA=$PWD
export CUDA_MODULE_LOADING=LAZY # the harness has to override it: the emulator refuses it

# MIB GROUP
calibrate() {
    EMULATOR_MEMORY=$1 "$program" calibrate --quick --group "$2" -o "$scratch/$2.yaml" >"$scratch/said" 2>&1
}

# MIB GROUP FIGURE TEXT: the figure's note, as an observation, ends in the text.
notes() {
    calibrate "$1" "$2" || return
    sed -n '/^observed:/,$p' "$scratch/$2.yaml" | grep -A 3 "^  $3:\$" >"$scratch/said"
    grep -qE "^    note: .*$4\"\$" "$scratch/said"
}

# MIB GROUP TEXT: the group fails with the text.
fails() {
    ! calibrate "$1" "$2" && grep -qE "$3" "$scratch/said"
}

echo 1..7
check 'copies of a halved buffer say so' notes 128 link-copies link.h2d \
    'copies of 4 MiB, .*; buffer of 16.0 MiB, not 1.00 GiB: the GPU has 1[0-9]* MiB free'
check 'fixed times of copies, too' notes 128 link-copies link.copy_between_kernels \
    '; buffer of 16.0 MiB, not 1.00 GiB: the GPU has 1[0-9]* MiB free'
check 'so do kernels' notes 640 layer layer.norm \
    '; buffer of 128 MiB, not 2.00 GiB: the GPU has [0-9]* MiB free'
check 'no copies in less than 32 MiB' fails 30 link-copies \
    'link-copies failed: too little room: the GPU has .* free'
check 'no norms of more rows than fit' fails 450 layer \
    'layer failed: too little room: the GPU has .* free'
check 'no peak of products that do not fit' fails 512 products \
    'products failed: too little room: the GPU has .* free'
check 'a buffer that does not fit has its size in the message' fails 200 layer \
    'expected: [0-9]* MiB of free GPU memory'
exit $failed
