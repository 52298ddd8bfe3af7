exec 2>&1
trap 'kill -KILL $(jobs -p) 2>/dev/null || true' EXIT
# Its first replay takes a quarter of an hour.
slow=(--set model=llama-3-8b --set hardware=a40 --set trace=llama-3-8b-like --set context=256K
    --set steps=4096 --set host_memory=1TiB)
stored() {
    sqlite3 runs.db 'SELECT count(*) FROM runs' 2>/dev/null || echo 0
}
# Does the program handle the signal? The shell that starts it has the same name, and handles it, too.
handles() {
    [ "$(readlink "/proc/$1/exe")" = "$PROGRAM" ] && grep -q '^SigCgt:.*[2367abef]$' "/proc/$1/status"
}
# Hundredths of a second of CPU: of a process that runs, and by the file `spent` of all those that have ended.
took() {
    awk '{ print $14 + $15 }' "/proc/$1/stat"
}
spent() {
    awk -F '[ms ]+' 'NR == 2 { printf "%d", 100 * (60 * ($1 + $3) + $2 + $4) }' spent
}
# interrupt LEAST COMMAND...: once the command handles the signal and has stored so many runs.
interrupt() {
    local least=$1 status=0 begun
    shift
    echo "$ spillway $1"
    rm -f runs.db*
    # A shell without a terminal starts its background jobs with the signal ignored.
    env --default-signal=INT spillway "$@" --db runs.db >output 2>message &
    until handles $! && [ "$(stored)" -ge "$least" ]; do
        kill -0 $!
        sleep 0.05
    done
    times >spent
    begun=$(($(spent) + $(took $!)))
    kill -INT $!
    wait $! || status=$?
    times >spent
    [ $(($(spent) - begun)) -le 500 ] || echo "took $(($(spent) - begun)) hundredths of a second to end"
    cat message
    echo "=> $status"
    [ "$(stored)" = "$least" ] || echo "$(stored) runs are stored"
    sqlite3 runs.db 'PRAGMA integrity_check'
}
