run() {
    spillway simulate --set model=llama-3-8b --set hardware=a40 --set trace=smollm2-135m --set context=8192 \
        --set batch=1 --set steps=2 "$@"
}
table() {
    sed -n '/^system/,/^$/p' | masked
}
