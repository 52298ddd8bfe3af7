scenario=(--set model=llama-3-8b --set hardware=rtx-a6000 --set context=32768)
recorded=("${scenario[@]}" --set trace=smollm2-135m)
