exec 2>&1
bad() {
    local disk='{extends: rtx-4090, disk: {capacity: 4TB, read: 6GB/s, write: 3GB/s, latency: 80us}}'
    spillway simulate --set model=llama-3.1-8b --set kv_pool_tokens=16K --set workload=conversations \
        --set system=vllm-offload --set mechanisms.prefix_disk=arrive --set rate=1 --set "hardware=$disk" "$@" ||
        echo "=> $?"
}
