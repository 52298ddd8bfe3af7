exec 2>&1
scenario=(--set model=llama-3-8b --set hardware=a40-no-ecc --set context=128K --set trace=smollm2-135m)
show() {
    echo "$ spillway plan $*"
    local status=0
    spillway plan "${scenario[@]}" "$@" || status=$?
    [ $status = 0 ] || echo "=> $status"
    echo
}
