exec 2>&1
scenario=(--set model=llama-3-8b --set context=32768 --set steps=4 --set warmup=8 --set trace=smollm2-135m)
seal() { jq -c '.seal | del(.version)'; }
printf 'extends: a40\n' >machine.yaml
mine=("${scenario[@]}" --set hardware=machine.yaml --set system=retroinfer-10pct)
