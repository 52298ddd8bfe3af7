exec 2>&1
scenario=(--set model=llama-3-8b --set hardware=a40 --set context=32K --set system=retroinfer-10pct
    --set trace=smollm2-135m)
show() {
    echo "$ spillway whatif $*"
    local status=0 text
    text=$(spillway whatif "${scenario[@]}" "$@" 2>&1) || status=$?
    awk '/^sure: / { skips = 1; next } skips && /^      / { next } { skips = 0; print }' <<<"$text"
    [ $status = 0 ] || echo "=> $status"
    echo
}
