# For scripts that print TAP. check NAME COMMAND...: run the command, and print whether it succeeds; if it fails, also
# $scratch/said. The script ends with `exit $failed`.
count=0
failed=0
check() {
    count=$((count + 1))
    if "${@:2}"; then
        echo "ok $count - $1"
    else
        sed 's/^/# /' "$scratch/said"
        echo "not ok $count - $1"
        failed=1
    fi
}
