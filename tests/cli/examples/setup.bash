# Run the examples in the help of these commands.
examples() {
    local command
    for command in "$@"; do
        spillway $command --help | sed -n '/^example:$/,/^$/p' | sed 1d >example
        bash -eu example >output && echo "$command: $(wc -l <example) lines, $(wc -c <output | sed 's/[1-9].*/some/') output"
    done
    ls
}
