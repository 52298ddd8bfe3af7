exec 2>&1
try() {
    printf '$ %s\n' "$*"
    "$@" || echo "=> $?"
}
run() { spillway simulate --set system=vllm --set context=8K "$@" | sed -n 's/, .*; 32 steps.*//p;/^vllm/p'; }
