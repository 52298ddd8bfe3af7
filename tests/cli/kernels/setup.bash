exec 2>&1
one() {
    echo "\$ spillway kernels $*"
    spillway kernels "$@" && echo || echo "status $?"
}
cp "$SOURCE"/tests/cli/kernels/own.yaml .
