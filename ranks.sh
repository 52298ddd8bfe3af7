vllm serve meta-llama/Llama-3.1-8B -dp 4 --max-model-len auto --max-model-len 4096 --kv-offloading-size 12
