#!/bin/bash
# What `make bundle` packs needs nothing but the C library and the repository's data: in a folder with these
# alone (chroot) its programs simulate, find no GPU, and say so. Building the CUDA part takes minutes of CPU,
# so it is packed here only if it is up to date.
set -u
cd "$(dirname "$0")/../../.."
export PATH=$PATH:/usr/sbin:/sbin
skip() {
    echo "1..1"
    echo "ok 1 - a bundle in an empty chroot # SKIP $1"
    exit 0
}
command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ] || skip "no nvcc here"
make -q build/spillway-calibrate-cuda build/spillway-calibrate-test-kernels >/dev/null 2>&1 ||
    skip "the CUDA part is not built or out of date: make bundle"
unshare -rm true 2>/dev/null || skip "chroot is not permitted here"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
number=0
failed=0
check() { # NAME COMMAND...
    number=$((number + 1))
    if "${@:2}" >"$scratch/out" 2>&1; then
        echo "ok $number - $1"
    else
        sed 's/^/# /' "$scratch/said" "$scratch/out"
        echo "not ok $number - $1"
        failed=1
    fi
}

pack() {
    local loader folder root=$scratch/root
    make -s bundle >"$scratch/said" 2>&1 || return
    mkdir -p "$root"/{proc,tmp,bundle,data/traces}
    tail -n "+$(($(grep -anm1 '^PACKED$' build/bundle/quarter | cut -d: -f1) + 1))" build/bundle/quarter |
        tar -xz -C "$root/bundle" || return
    cp -r models hwprofiles scenarios "$root/data"
    cp traces/smollm2-135m.* "$root/data/traces"
    loader=$(ldd "$root/bundle/bin/spillway" | awk '/ld-linux/ { print $1 }')
    folder=$(ldd "$root/bundle/bin/spillway" | awk '/libc\.so/ { print $3 }')
    folder=${folder%/*}
    cp -L --parents "$loader" "$folder"/lib{c,m,dl,rt,pthread,resolv}.so.* "$root"
}
# Run a program of the bundle in the empty folder. What it says is in $scratch/said, its status in $status.
inside() {
    unshare -rm bash -c 'mount --rbind /proc "$0/proc" && SPILLWAY_DATA=/data exec chroot "$0" "$@"' "$scratch/root" \
        "/bundle/bin/$1" "${@:2}" >"$scratch/said" 2>&1
    status=$?
}
calibrates() {
    inside spillway calibrate -o /tmp/x.yaml
    [ $status = 1 ] && [ "$(grep -c '^[^ ]' "$scratch/said")" = 1 ] &&
        grep -q '^spillway: no GPU to measure: ' "$scratch/said" && [ ! -e "$scratch/root/tmp/x.yaml" ]
}
tests_kernels() {
    inside kernel-tests
    [ $status = 1 ] && grep -q '^Bail out! no GPU to measure: ' "$scratch/said"
}
simulates() {
    inside spillway simulate --set model=smollm2-135m --set system=retroinfer --set context=3840 \
        --set hardware=h100-sxm --set trace=smollm2-135m --json
    [ $status = 0 ] && grep -q '"status":"ok"' "$scratch/said"
}
quarter() {
    KEPT=$scratch/kept build/bundle/quarter "$scratch/out_here" measure >"$scratch/said" 2>&1
    status=$?
    [ $status = 1 ] && [ "$(grep -c 'no GPU to measure' "$scratch/out_here/log.txt")" = 2 ]
}

echo 1..5
check it_is_packed pack
check without_a_gpu_calibrate_says_so calibrates
check without_a_gpu_the_tests_of_kernels_say_so tests_kernels
check data_are_found_and_simulated simulates
nvidia-smi -L >/dev/null 2>&1 && echo 'ok 5 - quarter # SKIP a GPU is here' && exit $failed
check quarter_goes_on_and_keeps_a_log quarter
exit $failed
