#!/bin/bash
# Tables fit the terminal, as wide as it says or as $COLUMNS does; where the output is no terminal they look
# at neither. A terminal obeys nothing that a file or a name says.
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
longest() { # lines that may be broken nowhere do not count, nor a command to copy
    grep -v '^ *[^ ]*$\|^start ' | wc -L
}
commands=("advise smollm2-135m a40 --context 4K" "list systems" "whatif ${case[*]} --over batch" "simulate ${case[*]}"
          "plan ${case[*]} --system fullattn,retroinfer --maximise batch --target 'tpot_ms<=50ms'")
for each in "${commands[@]}"; do
    for width in 72; do
        ask "stty cols $width; $program $each" >"$scratch/said"
        check "${each%% *} fits $width columns" test "$(longest <"$scratch/said")" -le $width
    done
done
ranged=(--set model=llama-3-8b --set hardware=a40 --set context=32768 --set trace=ensemble --set "'sweep.system=[fullattn, retroinfer-10pct]'")
ask "stty cols 72; $program simulate ${ranged[*]}" >"$scratch/said"
check 'figures with ranges fit 72 columns, with them or without' test "$(longest <"$scratch/said")" -le 72
ask "stty cols 50; $program simulate ${ranged[*]}" >"$scratch/said"
check 'what has no room is said' grep -q 'no room for ranges' "$scratch/said"
ask "stty cols 72; $program simulate ${case[*]}" >"$scratch/said"
check 'so are the columns that have no room' grep -q '^(no room for KV in HBM' "$scratch/said"
ask "stty cols 200; COLUMNS=72 $program ${commands[0]}" >"$scratch/said"
check 'COLUMNS has the last word on a terminal' test "$(longest <"$scratch/said")" -le 72
ask "stty cols 64; $program ${commands[4]}" >"$scratch/narrow"
ask "stty cols 160; $program ${commands[4]}" >"$scratch/said"
check 'a wider terminal has more columns' test "$(wc -L <"$scratch/said")" -gt "$(wc -L <"$scratch/narrow")"
"$program" ${commands[0]} >"$scratch/plain" 2>&1
COLUMNS=64 "$program" ${commands[0]} >"$scratch/said" 2>&1
check 'a file has the same lines whatever COLUMNS says' cmp -s "$scratch/said" "$scratch/plain"
# No terminal obeys what a file, a name or a value says, whether it is seen at once or kept.
hostile=$(printf 'm\033]0;title\a\033[31m\302\233')
mkdir "$scratch/$hostile"
cp models/smollm2-135m.json "$scratch/$hostile/config.json"
printf "vllm serve '%s' --max-num-seqs 4\n" "$hostile" >"$scratch/log"
name="$(printf '%s/%s' "$scratch" "$hostile" | sed 's/\x1b/\\e/g; s/\a/\\a/g; s/\xc2\x9b/\\x9b/g')"
printf 'system: vllm\nhardware: a40\ncontext: 512\nsteps: 4\nsweep: {model: ["%s", smollm2-135m]}\n' "$name" >"$scratch/hostile.yaml"
obeyed() { # FILE: bytes that a terminal obeys
    LC_ALL=C tr -d '\11\12\40-\176\200-\377' <"$1" | wc -c
}
seen() { # WHAT COMMAND...
    "${@:2}" >"$scratch/said" 2>&1 || true
    check "$1: nothing is obeyed" test "$(obeyed "$scratch/said")" = 0
    check "$1: it is shown" grep -q 'u001b\[31m\|?\[31m' "$scratch/said"
    check "$1: 8-bit controls, too" test "$(LC_ALL=C grep -c "$(printf '\302\233')" "$scratch/said")" = 0
}
seen 'what --from reads' "$program" simulate --from "$scratch/log"
seen 'a name in a table' "$program" simulate "$scratch/hostile.yaml" --db "$scratch/hostile.db"
seen 'a name that is unknown' "$program" simulate --set 'model="\e[31m"'
seen 'a file that is not there' "$program" simulate "$hostile.yaml"
echo "1..$count"
exit $failed
