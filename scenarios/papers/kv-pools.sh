#!/bin/bash
# Hold the KV sizes of kv-pools.tsv against what Spillway computes, and print the page of pools.
# UPDATE=1 also writes it into kv-pools.md.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program=${PROGRAM:-$here/../../build/spillway}

field() { sed -n "s/.*\"$1\":\([0-9.e+]*\).*/\1/p"; }

# The figure of one row, in tokens or bytes; nothing if it is not modelled.
predict() { # model engine tp kv pool length batched options figure
    local set=(--set "tensor_parallel=$3" --set "dtype.kv=$4") json
    [ -z "$2" ] || set+=(--set "engine=$2")
    [ -z "$5" ] || set+=(--set "kv_pool=$5")
    [ -z "$6" ] || set+=(--set "context=$6")
    [ -z "$7" ] || set+=(--set "batched_tokens=$7")
    case $8 in
        swa_tokens=*) set+=(--set "swa_full_ratio=$(awk "BEGIN {print ${8#*=} / $6}")") ;;
        caches=*) set+=(--set "prefix_caching=${8#*=}") ;;
        swa_ratio=*) set+=(--set "swa_full_ratio=${8#*=}" --set context=1000) ;;
    esac
    [ "$9" != state ] || set+=(--set "state_slots=$6")
    json=$("$program" list model "$1" "${set[@]}" --json 2>/dev/null) || return 0
    case $9 in
        tokens) field pool_tokens <<<"$json" ;;
        longest) field longest_sequence <<<"$json" ;;
        block) sed -n 's/.*"kind":"full"[^}]*"block_tokens":\([0-9]*\).*/\1/p' <<<"$json" ;;
        sequence) field sequence_bytes <<<"$json" ;;
        state) field state_pool_bytes <<<"$json" ;;
        pool) field full_pool_bytes <<<"$json" ;;
        windows) field window_pool_bytes <<<"$json" ;;
        token) awk -v full="$(field full_pool_bytes <<<"$json")" \
            -v window="$(field window_pool_bytes <<<"$json")" 'BEGIN {printf "%.0f\n", (full + window) / 1000}' ;;
        kept) sed 's/.*"context":"1M","kv_bytes":\([0-9.e+]*\),"index_bytes":\([0-9.e+nul]*\).*/\1 \2/' <<<"$json" |
            awk '{printf "%.0f\n", $1 + $2}' ;;
    esac
}

bytes() { case $1 in *GiB) awk "BEGIN {printf \"%.0f\n\", ${1%GiB} * 1073741824}" ;; *) echo "$1" ;; esac }

# Bytes as GiB where the source has them so.
shown() { case $2 in *GiB) awk "BEGIN {printf \"%.2f GiB\n\", $1 / 1073741824}" ;; *) echo "$1" ;; esac }

rows() {
    local model kinds engine tp kv pool length batched options figure published source predicted off verdict
    while IFS='|' read -r model kinds engine tp kv pool length batched options figure published source; do
        predicted=$(predict "$model" "$engine" "$tp" "$kv" "$pool" "$length" "$batched" "$options" "$figure")
        if [ -z "$predicted" ]; then
            echo "| $model | $kinds | $engine | $figure | $published |  | **not modelled** | $source |"
            continue
        fi
        off=$(awk "BEGIN {printf \"%+.1f\", ($predicted / $(bytes "$published") - 1) * 100}")
        [ "$off" != -0.0 ] || off=+0.0
        verdict=$(awk "BEGIN {print ($off <= 3 && $off >= -3) ? \"$off %\" : \"**$off %**\"}")
        echo "| $model | $kinds | $engine | $figure | $published | $(shown "$predicted" "$published") |" \
            "$verdict | $source |"
    done < <(grep -v '^#' "$here/kv-pools.tsv" | tr '\t' '|')
}

page() {
    sed '/^<!-- below: kv-pools.sh -->$/q' "$here/kv-pools.md"
    echo
    echo "| model | layers | engine | figure | published | predicted | error | source |"
    echo "|---|---|---|---|---|---|---|---|"
    rows
}

if [ "${UPDATE:-0}" = 0 ]; then
    page
else
    page >"$here/kv-pools.new"
    mv "$here/kv-pools.new" "$here/kv-pools.md"
fi
