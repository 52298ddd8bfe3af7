#!/bin/bash
# Kill every command that writes a file, at random moments, with SIGKILL, SIGTERM or SIGINT. KILLS says how
# often; without it, a few times (`make kills` kills a thousand times).
#
# After a kill each file is absent or whole. After the next run that is not disturbed, the folder holds
# what a run that was never killed leaves, and nothing else: the same bytes, and in databases the same
# rows. Every second time the killed command finds earlier results there, and in its cache.
set -u
cd "$(dirname "$0")/../.." || exit 1
program=$(realpath -m "${PROGRAM:-build/spillway}")
export SPILLWAY_DATA=$PWD LC_ALL=C.UTF-8
KILLS=${KILLS:-20}
SEED=${SEED:-7}

# The kills are done by a shell without a trap: a child that is killed before it is the program would run it.
if [ "${1-}" != --inside ]; then
    scratch=$(mktemp -d)
    trap 'rm -rf "$scratch"' EXIT
    tests/script/kills.sh --inside "$scratch"
    exit
fi
scratch=$2
export XDG_CACHE_HOME=$scratch/cache
mkdir "$scratch"/{in,whole,killed}
ln -s "$program" "$scratch/spillway"
cd "$scratch" || exit 1

# ---- the commands, and what they read -----------------------------------------------------------

small='--set model=smollm2-135m --set hardware=a40 --set trace=../../in/small.swt --set context=500 --set steps=4'
swept="$small --set sweep.system=[retroinfer,retroinfer-fifo] --set sweep.batch=[1,2,3]"
family='--set model=smollm2-135m --set hardware=a40 --set context=2000 --set steps=4 --set warmup=2'
served='--set model=llama-3.1-8b --set hardware=rtx-4090 --set system=vllm --set workload=conversations --set limit=20'

# NAME ARGUMENT...: run in a folder of its own, where it writes its files. Inputs are in ../../in.
commands=(
    "sweep simulate $swept --db runs.db"
    "families simulate $family --set system=litecache --db runs.db"
    "draws simulate $small --set system=clo --replications 20 --db runs.db"
    "server simulate $served --db runs.db"
    "whatif whatif $small --set system=retroinfer --over budget=[5%,10%,20%,40%] --db runs.db"
    "plan plan $small --system vllm,retroinfer --allow lossy --target tpot_ms<=60 --db runs.db -o winner.yaml"
    "front plan $small --system vllm,retroinfer --allow lossy --pareto --over batch=[1,2] --db runs.db"
    "advise advise llama-3-8b a40 --context 100K --set trace=assumed:hit=90% --set steps=2 --db runs.db"
    "ablate ablate $small --set system=retroinfer --against retroinfer-fifo --db runs.db"
    "curve curve ../../in/small.swt --policy lru --policy arc --sizes 10%,30% --db curves.db"
    "merge merge ../../in/a.db ../../in/b.db -o all.db"
    "report report ../../in/curves.db -o report.html"
    "plot plot latency ../../in/few.db -o latency.svg"
    "timeline timeline $small --set system=retroinfer -o timeline.json"
    "fit trace fit ../../in/small.swt -o profile.yaml"
    "generate trace generate smollm2-135m --context 500 --steps 16 -o made.swt"
)

run() { # FOLDER ARGUMENT...
    cd "$1" && exec env --default-signal=INT,TERM "$scratch/spillway" "${@:2}" >"$scratch/out" 2>"$scratch/said"
}
make_inputs() {
    ./spillway trace generate smollm2-135m --model gemma-3-270m --context 500 --steps 64 -o in/small.swt &&
        ./spillway curve in/small.swt --policy lru --sizes 10%,30% --db in/curves.db &&
        cd killed/inputs &&
        ../../spillway simulate $small --set system=retroinfer --db ../../in/few.db &&
        ../../spillway simulate $swept --shard 1/2 --db ../../in/a.db &&
        ../../spillway simulate $swept --shard 2/2 --db ../../in/b.db
}

# ---- what is checked ----------------------------------------------------------------------------

wrong=0
complain() { # NAME WHAT
    echo "# $1: $2"
    wrong=$((wrong + 1))
}
contents() { # FILE
    case $1 in
    *.db) sqlite3 -readonly "$1" .dump ;;
    *) cat "$1" ;;
    esac
}
# All files of a folder are those of a run that was never killed.
check_whole() { # NAME
    local file
    [ "$(ls -A "killed/$1")" = "$(ls -A "whole/$1" | grep -v '\.contents$')" ] ||
        complain "$1" "leaves $(ls -A "killed/$1" | tr '\n' ' ')"
    for file in "whole/$1"/*.contents; do
        file=${file#whole/} file=${file%.contents}
        contents "killed/$file" 2>/dev/null | cmp -s - "whole/$file.contents" ||
            complain "$1" "another $file than that of a run that was not killed"
    done
}
# What was killed has left its files absent or whole. A database is checked once the program has opened it
# again.
check_parts() { # NAME
    local file
    for file in "killed/$1"/*; do
        case $file in
        *.db | *-journal | *.spillway-tmp | *'*') ;;
        *) cmp -s "$file" "whole/${file#killed/}.contents" || complain "$1" "left a part of $file" ;;
        esac
    done
}

declare -A took disturbed # microseconds of its last run; 1: it was killed, and not run again since
run_whole() { # FOLDER NAME ARGUMENT...
    local begun=${EPOCHREALTIME/./}
    (run "$1/$2" "${@:3}") || complain "$2" "fails: $(<said)"
    took[$2]=$((${EPOCHREALTIME/./} - begun))
}
learn() { # NAME ARGUMENT...
    local file
    mkdir "whole/$1" "killed/$1"
    run_whole whole "$@"
    for file in "whole/$1"/*; do
        contents "$file" >"$file.contents"
    done
}

# ---- the kills ----------------------------------------------------------------------------------

signals=(KILL TERM INT)
numbers=(9 15 2)
kills=0
ends=0
kill_once() { # NAME ARGUMENT...
    local which=$((RANDOM % 3)) status=0
    disturbed[$1]=1
    (run "killed/$1" "${@:2}") 2>/dev/null &
    sleep "$(printf '%d.%06d' 0 $(((RANDOM * 32768 + RANDOM) % (took[$1] < 999999 ? took[$1] : 999999))))"
    kill "-${signals[which]}" $! 2>/dev/null && kills=$((kills + 1))
    wait $! 2>/dev/null || status=$?
    case $status in
    0 | $((128 + numbers[which]))) ;;
    *) complain "$1" "ends with $status after SIG${signals[which]}: $(<said)" ;;
    esac
    check_parts "$1"
}
finish() { # NAME ARGUMENT...
    [ -n "${disturbed[$1]:-}" ] || return
    disturbed[$1]=
    ends=$((ends + 1))
    run_whole killed "$@"
    check_whole "$1"
    [ $((RANDOM % 2)) -eq 0 ] || rm -rf "killed/$1"/* "$XDG_CACHE_HOME"
}

RANDOM=$SEED
mkdir killed/inputs
(make_inputs) >/dev/null || exit
for command in "${commands[@]}"; do
    learn $command
done
for ((turn = 0; kills < KILLS && turn < 4 * KILLS; turn++)); do
    command=${commands[turn % ${#commands[@]}]}
    kill_once $command
    [ $((RANDOM % 3)) -eq 0 ] || finish $command
    [ $((turn % 100)) -ne 99 ] || echo "# $kills kills, $wrong faults so far"
done
for command in "${commands[@]}"; do
    finish $command
done
leftovers=$(find . -name '*.spillway-tmp')
[ -z "$leftovers" ] || complain "all" "leave $leftovers"

echo 1..1
echo "# seed $SEED: $kills kills of ${#commands[@]} commands, $ends runs to the end"
[ $wrong -eq 0 ] || echo -n 'not '
echo 'ok 1 - what_is_killed_leaves_no_half_file_and_nothing_else'
exit $((wrong > 0))
