exec 2>&1
B='--set context=8K --set trace=assumed:hit=90%'
try() {
    printf '$ %s\n' "$*"
    "$@" || echo "=> $?"
}
