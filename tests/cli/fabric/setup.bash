step() {
    spillway simulate --set model=llama-3-8b --set system=vllm --set context=4096 --set batch=16 --set prompt=2048 \
        --set tensor_parallel=2 --set "hardware=$1" --json |
        grep -oE '"(hardware|tpot_ms|prefill_ms)":[^,]*' | sed 's/"[a-z_]*"://' | tr '\n' ' '
    echo
}
