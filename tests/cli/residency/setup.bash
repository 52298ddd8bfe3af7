scenario=(--set model=deepseek-v3.2 --set hardware=h200 --set tensor_parallel=8 --set trace=smollm2-135m --set steps=4)
system=(--set system=vllm-hisparse)
