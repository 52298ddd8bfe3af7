exec 2>&1
cp "$SOURCE"/tests/cli/from_server/*.* .
mkdir -p meta-llama/Llama-3.1-8B # a path comes before the id of a repository
cp "$SOURCE/models/llama-3.1-8b.json" meta-llama/Llama-3.1-8B/config.json
here=(--set workload=conversations --set limit=3 --set timed=no --set hardware=rtx-4090)
bad() {
    "$@" || echo "status $?"
}
