exec 2>&1
cp "$SOURCE"/tests/cli/measured/*.json* .
spillway simulate --set workload=conversations --set system=vllm --set model=llama-3.1-8b \
    --set hardware=rtx-4090 --set kv_pool_tokens=16K --db served.db >table
