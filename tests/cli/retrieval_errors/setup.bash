exec 2>&1
native=(--set model=smollm2-135m --set hardware=a40 --set context=3840 --set steps=16 --set warmup=32)
errs() { spillway simulate "${native[@]}" "$@" | grep -E '^(system|quest|loki|retro|infini)|retrieval (errs|is)'; }
