exec 2>&1
base='--set model=llama-3-8b --set hardware=a40 --set system=vllm'
try() {
    printf '$ %s\n' "$*" | sed "s/$base /.../"
    "$@" || echo "=> $?"
}
