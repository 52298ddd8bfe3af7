ask() {
    echo "\$ spillway advise $*"
    status=0
    spillway advise "$@" 2>&1 || status=$?
    [ $status = 0 ] || echo "=> $status"
    echo
}
