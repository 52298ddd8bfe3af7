try() {
    echo "\$ spillway $*"
    spillway "$@" 2>&1 && status=0 || status=$?
    echo "=> $status"
}
