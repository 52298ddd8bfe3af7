try() {
    echo "\$ spillway $*"
    spillway "$@" 2>&1 | sed "s|${PROGRAM%/*}|BUILD|; s|$PWD/bin|BUILD|; s|$SOURCE|SOURCE|; s|this machine has .*|this machine has N|" && status=0
    echo "=> ${PIPESTATUS[0]}"
}
set -o pipefail
