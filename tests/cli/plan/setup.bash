exec 2>&1
scenario=(--set model=llama-3-8b --set hardware=a40-no-ecc --set context=32K --set trace=smollm2-135m)
show() {
    echo "$ spillway plan $*"
    local status=0 text
    text=$(spillway plan "${scenario[@]}" "$@" 2>&1) || status=$?
    awk '/^sure: / { skips = 1; next } skips && /^      / { next } { skips = 0; print }' <<<"$text"
    [ $status = 0 ] || echo "=> $status"
    echo
}
