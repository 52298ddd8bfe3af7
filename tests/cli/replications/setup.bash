exec 2>&1
small=(--set model=smollm2-135m --set hardware=a40 --set context=3840 --set steps=4)
two=(--set 'sweep={batch: [1, 2], system: [retroinfer-10pct, retroinfer-fifo, litecache]}')
# The same for any number of threads, with or without a database.
same() {
    spillway simulate "${small[@]}" "${two[@]}" --jobs 1 "$@" >one
    spillway simulate "${small[@]}" "${two[@]}" --jobs 2 "$@" >two
    spillway simulate "${small[@]}" "${two[@]}" --db results.db "$@" >kept
    spillway simulate "${small[@]}" "${two[@]}" --db results.db "$@" >again
    cmp one two && cmp one kept && cmp one again
}
