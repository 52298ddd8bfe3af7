#!/bin/bash
# What a question about something far back asks of the KV: the attention mass that systems keep while a model goes on
# with a text, quotes a note, looks up facts, and goes back to all paragraphs (capture/task_text.py has the texts).
#
#   traces/tasks.sh [FOLDER]     prints the table of README.md
#
# Recordings are kept in FOLDER (default build/tasks) and made where they are missing, half a minute each on 2 cores.
set -euo pipefail

. "$(dirname "$0")/capture/prepare.sh"

mkdir -p "${1:-$root/build/tasks}"
folder=$(cd "${1:-$root/build/tasks}" && pwd)
program=$(realpath "${PROGRAM:-$root/build/spillway}")

kinds='text needle needles outline'
families='smollm2-135m qwen2.5-coder-0.5b gemma-3-270m'
declare -A layers=(
    [smollm2-135m]=2,7,12,17,22,27
    [qwen2.5-coder-0.5b]=2,7,12,17,22
    [gemma-3-270m]=5,11,17
)
declare -A model_named=([qwen2.5-coder-0.5b]=qwen2.5-0.5b) # of the program, where it is another name
context=3840

record_missing() { # MODEL KIND
    local out=$folder/$1-$2.swt manual
    [ ! -e "$out" ] || return 0
    prepare
    manual=$(find_text debian-policy /usr/share/doc/debian-policy/policy.txt.gz)
    say "recording $1, $2"
    "$work/venv/bin/python" "$capture/task_text.py" --model "$(find_model "$1")" --kind "$2" --context $context \
        --text "$manual" --offset 30000 >"$folder/$1-$2.txt"
    record "$1" "$out" --text "$folder/$1-$2.txt" --context $context --steps 110 --keep 30% --layers "${layers[$1]}"
}

# The mass of a system, in %. Those that drop KV keep 20 % of it, those that select attend to 10 %.
mass() { # MODEL KIND SYSTEM
    local budget=()
    case $3 in h2o | snapkv | streaming-llm) budget=(--set mechanisms.budget=20%) ;; esac
    "$program" simulate --set model="${model_named[$1]:-$1}" --set hardware=h100-sxm --set context=$context \
        --set system="$3" --set trace="$folder/$1-$2.swt" --set warmup=0 "${budget[@]}" --json |
        jq '.mass_recall' | awk '{ printf "%.1f", 100 * $1 }'
}

echo "| system | ${families// / | } |"
echo '|---|---|---|---|'
for system in retroinfer-10pct infinigen pqcache clo quest h2o snapkv streaming-llm; do
    printf '| `%s`' $system
    for model in $families; do
        separator=' | '
        for kind in $kinds; do
            record_missing $model $kind
            printf '%s%s' "$separator" "$(mass $model $kind $system)"
            separator=', '
        done
    done
    echo ' |'
done
