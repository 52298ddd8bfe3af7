#!/bin/sh
# our server
export X=1
CUDA_VISIBLE_DEVICES=0,1 vllm serve "meta-llama/Llama-3.1-8B" --tensor-parallel-size 2 \
    --max-num-seqs=64 --max-num-batched-tokens 8k \
    --gpu-memory-utilization 0.95 --kv-cache-dtype fp8_e4m3 --no-enable-prefix-caching > log 2>&1 &
