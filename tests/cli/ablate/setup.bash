exec 2>&1
scenario=(--set model=smollm2-135m --set hardware=a40 --set context=3840)
show() {
    echo "$ spillway ablate $*"
    local status=0 text
    text=$(spillway ablate "${scenario[@]}" "$@" 2>&1) || status=$?
    awk '/^sure: / { skips = 1; next } skips && /^      / { next } { skips = 0; print }' <<<"$text"
    [ $status = 0 ] || echo "=> $status"
    echo
}
