scenario=(--set model=llama-3.1-8b --set hardware=rtx-4090 --set kv_pool_tokens=16K)
exec 2>&1
bad() {
    spillway simulate "${scenario[@]}" --set system=vllm "$@" || echo "status $?"
}
