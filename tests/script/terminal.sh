#!/bin/bash
# Tables fit the terminal, as wide as it says or as $COLUMNS does; where the output is no terminal they look at neither.
set -u
cd "$(dirname "$0")/../.."
source tests/script/tap.bash
program=$(realpath -m "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache SPILLWAY_DATA=$PWD program
unset COLUMNS
if ! command -v script >/dev/null; then
    echo '1..0 # SKIP script is missing (apt-get install bsdutils)'
    exit 0
fi
case=(--set model=smollm2-135m --set hardware=a40 --set context=512 --set steps=4 --set system=retroinfer)
ask() { # COMMAND: on a terminal, without what it shows meanwhile
    script -qec "$1 2>/dev/null" "$scratch/typescript" </dev/null | tr -d '\r'
}
longest() { # lines that may be broken nowhere do not count
    grep -v '^ *[^ ]*$' | wc -L
}
commands=("advise smollm2-135m a40 --context 4K" "list systems" "whatif ${case[*]} --over batch" "simulate ${case[*]}"
          "plan ${case[*]} --system fullattn,retroinfer --maximise batch --target 'tpot_ms<=50ms'")
for each in "${commands[@]}"; do
    for width in 72; do
        ask "stty cols $width; $program $each" >"$scratch/said"
        check "${each%% *} fits $width columns" test "$(longest <"$scratch/said")" -le $width
    done
done
ask "stty cols 200; COLUMNS=64 $program ${commands[0]}" >"$scratch/said"
check 'COLUMNS has the last word on a terminal' test "$(longest <"$scratch/said")" -le 64
ask "stty cols 64; $program ${commands[4]}" >"$scratch/narrow"
ask "stty cols 160; $program ${commands[4]}" >"$scratch/said"
check 'a wider terminal has more columns' test "$(wc -L <"$scratch/said")" -gt "$(wc -L <"$scratch/narrow")"
"$program" ${commands[0]} >"$scratch/plain" 2>&1
COLUMNS=64 "$program" ${commands[0]} >"$scratch/said" 2>&1
check 'a file has the same lines whatever COLUMNS says' cmp -s "$scratch/said" "$scratch/plain"
echo "1..$count"
exit $failed
