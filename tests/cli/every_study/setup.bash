exec 2>&1
decode=(--set model=smollm2-135m --set hardware=a40 --set context=3840 --set steps=4 --set warmup=4)
serve=(--set model=llama-3.1-8b --set hardware=rtx-4090 --set kv_pool_tokens=16K --set workload=conversations --set limit=20)

# A table and, of the same database, JSON: how many lines they have tells that both are there.
study() { # NAME COMMAND...
    local name=$1 status=0
    shift
    "$@" --db "$name.db" >"$name.table" 2>said || status=$?
    "$@" --db "$name.db" --json >"$name.json" 2>said || status=$?
    echo "$name: $(wc -l <"$name.table") lines, $(wc -l <"$name.json") in JSON, status $status"
}
