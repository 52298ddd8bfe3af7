common=(--set model=llama-3-8b --set context=32K --set trace=smollm2-135m)
ask() {
    echo "\$ spillway plan $*"
    status=0
    spillway plan "${common[@]}" "$@" 2>&1 || status=$?
    [ $status = 0 ] || echo "=> $status"
    echo
}
best() {
    ask "$@" | sed '/^its scenario/,/^$/d; /^model:/,/^$/d'
}
