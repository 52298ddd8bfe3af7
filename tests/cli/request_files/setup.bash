exec 2>&1
server=(--set model=llama-3.1-8b --set hardware=rtx-4090 --set kv_pool_tokens=16K --set system=vllm)
requests() {
    spillway simulate "${server[@]}" "$@" || echo "status $?"
}
