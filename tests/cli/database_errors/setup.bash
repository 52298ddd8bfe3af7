scenario=(--set model=smollm2-135m --set hardware=a40 --set system=fullattn --set context=1024)
state() {
    stat -c '%F %s %Y' "$1" 2>/dev/null || true
    [ ! -f "$1" ] || cksum <"$1"
}
try() {
    before=$(state "$1")
    echo "\$ spillway simulate --db $1"
    spillway simulate "${scenario[@]}" --db "$1" 2>message && status=0 || status=$?
    sed 's/schema [0-9a-f]*;/schema N;/' message
    echo "=> $status"
    echo "\$ spillway plot latency $1"
    spillway plot latency "$1" -o x.svg 2>message && status=0 || status=$?
    sed 's/schema [0-9a-f]*;/schema N;/' message
    echo "=> $status"
    [ "$before" = "$(state "$1")" ] || echo "$1 was changed"
}
exec 2>&1
