exec 2>&1
scenario=(--set model=smollm2-135m --set hardware=a40 --set context=3840 --set trace=smollm2-135m)
