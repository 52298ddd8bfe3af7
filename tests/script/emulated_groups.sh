#!/bin/bash
# Each GPU group of the harness, alone, on the emulated GPU (tests/kernels/emulator): it ends, releases what
# it holds, and all its figures are in the profile. Their values mean nothing, except those of products. All
# groups together measure what curves.def says. Groups whose kernels take most of the time, and that hold no
# code of their own for memory, run without the sanitizers.
set -eu
cd "$(dirname "$0")/../.."
. tests/script/tap.bash
plain=build/release/spillway-calibrate-emulated
program=${EMULATED:-$plain}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SPILLWAY_DATA=$PWD

# A line a group: the GPU's memory in MiB, the group, its figures.
groups() {
    cat <<'END'
2304 gpu-memory gpu.hbm_capacity gpu.sms gpu.sm_threads gpu.l2 gpu.hbm_bandwidth gpu.hbm_share gpu.cta_bandwidth gpu.copy gpu.gather.row_256 gpu.gather.row_1024 gpu.gather.row_4096
128 launch gpu.kernel_floor gpu.graph_node host.graph_launch host.sync launch.bare launch.copy_and_sync launch.empty_interval launch.empty_kernel launch.event_record launch.event_wait launch.graph launch.round_trip launch.stream_hop
128 flags gpu.flag flag.release_by_cpu flag.between_kernels
128 link-copies link.h2d link.d2h link.copy_latency link.d2h_copy_latency host.pageable host.copy_call link.h2d_copy link.d2h_copy link.h2d_pageable link.d2h_pageable link.behind_large link.h2d_between_kernels link.copy_between_kernels
128 link-blocks link.calls_in link.calls_out link.batch_in link.batch_out link.kernel_in link.kernel_out host.batch_call blocks.call_in blocks.call_out blocks.batch_in blocks.batch_out
48 link-beside gpu.beside_in gpu.beside_out beside.rate_in beside.rate_out beside.calls_in beside.calls_out beside.calls_rate_in beside.calls_rate_out
128 link-loads link.round_trip link.zero_copy link.cta_in_flight link.sm_loads.row_256.ctas_1 link.sm_loads.row_16384.ctas_128 link.sm_stores
128 link-sharing link.duplex sharing.h2d sharing.d2h sharing.loads sharing.read sharing.h2d_beside_d2h sharing.d2h_beside_h2d sharing.loads_beside_d2h sharing.d2h_beside_loads sharing.h2d_beside_read sharing.d2h_beside_read sharing.loads_beside_read sharing.read_beside_h2d sharing.read_beside_d2h sharing.read_beside_loads sharing.read_beside_both
128 link-stores link.coherent
128 attention gpu.attention_fixed gpu.attention_pair gpu.attention_share gpu.attention_fixed_fp8 gpu.attention_pair_fp8 gpu.attention_share_fp8 attention.bf16_128 attention.bf16_128.batch_4 attention.bf16_128.group_8 attention.bf16_128.group_1 attention.bf16_64 attention.fp8_128 attention.fp8_128.batch_16 attention.fp8_64 attention.list.fp8_128
3500 products gpu.flops_bf16 gpu.flops_share gpu.product_fixed gpu.product_share product.576x960 product.8192x8192
64 selection gpu.topk gpu.topk_fused gpu.topk_fused_row scores.pages scores.centroids scores.codes scores.hashes labels attention.merge
640 layer layer.norm layer.positions layer.kv_from_activations
END
}

# The figures whose kernels do not fit, or that need GDRCopy.
may_be_absent='attention\..*|link\.cpu_store|product\..*'

# MIB GROUP FIGURE...
measures() {
    local profile=$scratch/$2.yaml figure harness=$program
    case $2 in launch | link-beside | products) harness=$plain ;; esac
    EMULATOR_MEMORY=$1 "$harness" calibrate --quick --group "$2" -o "$profile" >"$scratch/said" 2>&1 || return
    for figure in "${@:3}"; do
        grep -A 5 "^  $figure:\$" "$profile" | grep -q '^    points:' ||
            { echo "without $figure" >>"$scratch/said"; return 1; }
    done
    ! grep '^absent:' "$scratch/said" | grep -vE "^absent: ($may_be_absent): "
}

# The emulated products take 3 us and the longer of their bytes at 1 TB/s, of 3.2 TB/s, and their FLOPs at 100
# TFLOP/s, of 147.5 (tests/kernels/emulator/cublas.cu). With 64 rows their bytes take longer.
products_are_as_emulated() {
    local profile=$scratch/products.yaml
    grep -A 1 '^  product_fixed:' "$profile" | grep -qE 'value: (3|2.999)us$' &&
        grep -A 1 '^  product_share:' "$profile" | grep -q 'value: 31.25%$' &&
        grep -A 1 '^  flops_share:' "$profile" | grep -q '\[\[1, 42.74%\], \[64, 42.74%\], \[128, 67.82%\], ' && return
    grep -A 1 -E '^  (product_.*|flops_share):' "$profile" >"$scratch/said"
    return 1
}

# The curves of GPU and link are either measured or among those that curves.def excepts, and not both.
curves_are_those_of_the_list() {
    local curve except measured ok=0
    for curve in $(grep -oE '"(gpu|link)\.[a-z0-9_]+"' sim/machine/curves.def | tr -d '"'); do
        except=0 measured=0
        for pattern in $(sed -nE 's/^ \*   ((gpu|link)\.)/\1/p' sim/machine/curves.def); do
            # shellcheck disable=SC2053 # a pattern
            [[ $curve != $pattern ]] || except=1
        done
        ! cat "$scratch"/*.yaml | grep -q "^  $curve:\$" || measured=1
        [ $((except + measured)) = 1 ] ||
            { echo "$curve: excepted $except times, measured $measured times" >>"$scratch/curves"; ok=1; }
    done
    [ $ok = 0 ] || cp "$scratch/curves" "$scratch/said"
    return $ok
}

# The emulator has a clock of its own: all but the date and the CPU's clock are the same each time.
measures_the_same_again() {
    local again=$scratch/link-copies.yaml kept=$scratch/kept
    mv "$again" "$kept"
    # shellcheck disable=SC2046 # a word a figure
    measures $(groups | grep ' link-copies ') &&
        diff <(grep -vE '^  (date|checksum|clocks_[a-z]*): ' "$kept") <(grep -vE '^  (date|checksum|clocks_[a-z]*): ' "$again") >"$scratch/said"
}

echo "1..$(($(groups | wc -l) + 3))"
while read -r memory group figures; do
    # shellcheck disable=SC2086 # a word a figure
    check "$group" measures "$memory" "$group" $figures
done < <(groups)
check 'products take what the emulator lets them take' products_are_as_emulated
check 'a group measures the same again' measures_the_same_again
check 'curves.def says what is measured' curves_are_those_of_the_list
exit $failed
