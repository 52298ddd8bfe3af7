scenario=(--set model=smollm2-135m --set hardware=a40 --set context=3840 --set system=retroinfer-10pct)
exec 2>&1
