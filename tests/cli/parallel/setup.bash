show() {
    printf '%-70s' "$*"
    local sets=()
    for set in "$@"; do
        sets+=(--set "$set")
    done
    spillway simulate --set system=vllm --set hardware=h100-sxm "${scenario[@]}" "${sets[@]}" --json |
        grep -oE '"(hbm_weights_bytes|hbm_kv_bytes|tpot_ms|prefill_ms|decode_tokens_per_s|tokens_per_s_per_gpu|ttft_ms|kv_blocks)":[0-9.]+' |
        awk -F: '{ printf " %s", ($2 > 1e8 ? sprintf("%.2fGB", $2 / 1e9) : sprintf("%.4g", $2)) } END { print "" }'
}
