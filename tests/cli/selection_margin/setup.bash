scenario=(--set model=smollm2-135m --set hardware=a40 --set context=8192 --set steps=8)
infinigen=("${scenario[@]}" --set system=infinigen)
near=(--set mechanisms.selection_margin=4)
