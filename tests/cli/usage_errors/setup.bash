try() {
    echo "\$ spillway $*"
    spillway "$@" >unexpected && status=0 || status=$?
    cat unexpected
    echo "=> $status"
}
exec 2>&1
