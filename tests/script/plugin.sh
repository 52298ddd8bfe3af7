#!/bin/bash
# Plug-ins: the example is built with the installed header alone and runs; every way to be wrong is an
# error that names the plug-in and ends with exit status 1.
set -eu
cd "$(dirname "$0")/../.."
source=$PWD
program=$(realpath -m "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export SPILLWAY_DATA=$source
: "${CC:=cc}"

make -s install DESTDIR="$scratch" PREFIX=/installed >/dev/null
include=$scratch/installed/include
cp -R examples/plugin "$scratch/own"
make -s -C "$scratch/own" INCLUDE="$include"
cd "$scratch/own"

number=0
failures=0
check() { # NAME STATUS
    number=$((number + 1))
    if [ "$2" -eq 0 ]; then echo "ok $number - $1"; else
        echo "not ok $number - $1"
        failures=$((failures + 1))
    fi
}
spillway() { "$program" "$@"; }
misses() { spillway curve "$1" --policy "$2" --sizes "$3" --json | sed 's/.*"misses":\([0-9]*\)}/\1/'; }
simulate() {
    spillway simulate --set model=smollm2-135m --set hardware=a40 --set context=3840 \
        --set system=retroinfer --set "mechanisms.policy=$1" "${@:2}"
}

# ---- the example --------------------------------------------------------------------------------

[ "$(misses smollm2-135m plugin:./sampled_lru.so 100%)" = "$(misses smollm2-135m lru 100%)" ] && s=0 || s=1
check a_plugin_with_room_for_all_misses_what_lru_misses $s

awk 'BEGIN { x = 1; for (i = 0; i < 4000; i++) { x = x * 16807 % 2147483647
             printf "%c%c%c%c", int(90 * (x / 2147483647) ^ 2), 0, 0, 0 } }' >ids.u32 LC_ALL=C
[ "$(misses ids.u32 plugin:./sampled_lru.so 1)" = "$(misses ids.u32 lru 1)" ] && s=0 || s=1
check a_plugin_of_one_block_is_lru_of_one_block $s

some=$(misses ids.u32 plugin:./sampled_lru.so 20)
[ "$some" -ge "$(misses ids.u32 opt:bypass 20)" ] && [ "$some" = "$(misses ids.u32 plugin:sampled_lru.so 20)" ] &&
    [ "$some" -lt "$(misses ids.u32 plugin:./sampled_lru.so 10)" ] && s=0 || s=1
check a_plugin_draws_the_same_lots_and_beats_nothing_it_cannot $s

simulate '{name: plugin:./sampled_lru.so, samples: 64}' --json >many.json
simulate '{name: plugin:./sampled_lru.so, samples: 1}' --json >one.json
awk -F'"hit_ratio":' '{ split($2, value, ","); hit[NR] = value[1] }
                      END { exit !(hit[1] > hit[2] && hit[2] > 0) }' many.json one.json && s=0 || s=1
check more_samples_hit_more $s

grep -q '"policy":"plugin:./sampled_lru.so"' many.json &&
    simulate plugin:./sampled_lru.so | grep -q 'plugin:./sampled_lru.so is sampled-lru: of a few' && s=0 || s=1
check a_result_names_its_plugin $s

simulate plugin:./sampled_lru.so --json >before.json
simulate plugin:./sampled_lru.so --json | cmp -s - before.json && s=0 || s=1
check the_same_plugin_is_the_same_run $s
run_of() { sed 's/.*"run":"\([0-9a-f]*\)".*/\1/' "$1"; }
printf x >>sampled_lru.so
simulate plugin:./sampled_lru.so --json >after.json
[ "$(run_of before.json)" != "$(run_of after.json)" ] && s=0 || s=1
check other_bytes_of_a_plugin_are_another_run $s

# ---- what is refused ----------------------------------------------------------------------------

build() { # FILE BAD
    "$CC" -shared -fPIC -I"$include" -DBAD="$2" "$source/tests/script/bad_plugin.c" -o "$1"
}
# The message holds the plug-in's name and TEXT, and the exit status is 1.
refused() { # CLAIM TEXT COMMAND...
    local output status=0
    output=$("${@:3}" 2>&1 >/dev/null) || status=$?
    [ $status -eq 1 ] && [[ $output == *bad.so* && $output == *"$2"* ]] && status=0 || status=1
    [ $status -eq 0 ] || sed 's/^/# /' <<<"$output"
    check "$1" $status
}
curve() { spillway curve ids.u32 --policy plugin:./bad.so --sizes 4; }
replay() { spillway curve smollm2-135m --policy plugin:./bad.so --sizes 4; }

refused a_missing_file_is_refused 'No such file' curve
echo 'not a library' >bad.so
refused a_text_file_is_refused 'cannot load' curve
build bad.so 100
refused a_library_without_the_symbol_is_refused "does not export 'spillway_policy'" curve
while read -r bad text; do
    build bad.so "$bad"
    refused "${bad,,}_is_refused" "$text" curve
done <<'END'
OTHER_ABI ABI 2
NO_ACCESS incomplete
NO_NAME incomplete
MANY_PARAMS parameter 9
ABORT_ON_LOAD Aborted
EXIT_ON_LOAD ends the program
CRASH_ON_CREATE when it is loaded or tried
CRASH_ON_ACCESS Aborted
REFUSE no more than 100 blocks
MORE_HITS hits where
FEWER_HITS 1 hits where 0
OUT_OF_RANGE of 8
REPEATED which
NOT_WANTED is not wanted
EVICT_UNHELD does not hold
EVICT_OUT_OF_RANGE evicts block 4294967295
ABOVE_CAPACITY in a cache of
REUSE without comparing queries
LOOKUPS looks up 4294967295
END
build bad.so LATER
refused hits_that_cannot_be_are_found_in_a_curve 'hits of 1' curve
refused hits_that_cannot_be_are_found_in_a_simulation 'hits of' simulate plugin:./bad.so \
    --set trace=smollm2-135m
# Behind the trial: a curve, whose threads ask; and a sweep, of which what was stored stays.
while read -r bad text; do
    build bad.so "$bad"
    refused "${bad,,}_is_blamed_on_the_plugin" "$text" curve
    rm -f later.db
    refused "${bad,,}_is_blamed_in_a_sweep" "$text" spillway simulate --set model=smollm2-135m --set hardware=a40 \
        --set trace=smollm2-135m --set context=3840 --set system=retroinfer --db later.db --jobs 2 \
        --set 'sweep.mechanisms.policy=[lru, fifo, plugin:./bad.so]'
    spillway simulate --set model=smollm2-135m --set hardware=a40 --set trace=smollm2-135m --set context=3840 \
        --set system=retroinfer --db later.db --set 'sweep.mechanisms.policy=[lru, fifo]' --json >resumed.json &&
        spillway simulate --set model=smollm2-135m --set hardware=a40 --set trace=smollm2-135m --set context=3840 \
            --set system=retroinfer --set 'sweep.mechanisms.policy=[lru, fifo]' --json | cmp -s - resumed.json &&
        s=0 || s=1
    check "${bad,,}_leaves_the_database_whole" $s
done <<'END'
CRASH_LATER crashes: Segmentation fault
ABORT_LATER crashes: Aborted
EXIT_LATER ends the program
END
build bad.so REFUSE_LATER
refused a_refusal_gives_its_reason 'no more than 100 blocks' replay
build bad.so NONE
curve >/dev/null && replay >/dev/null && s=0 || s=1
check the_same_plugin_without_a_fault_runs $s

echo "1..$number"
exit $((failures > 0))
