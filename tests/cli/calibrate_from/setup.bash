cp "$SOURCE"/tests/cli/calibrate_from/{nvbandwidth.json,report.sql} .
show() {
    spillway calibrate "$@" 2>&1
    grep -v '^  checksum:\|^  date:' p.yaml
}
sqlite3 report.sqlite <report.sql
try() {
    echo "\$ spillway $*"
    spillway "$@" 2>&1 && status=0 || status=$?
    echo "=> $status"
}
