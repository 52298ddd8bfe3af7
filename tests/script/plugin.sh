#!/bin/bash
# Plug-ins: the example is built with the installed header alone and runs. A file that does not fit the
# header, or an impossible answer, is an error that names the plug-in, with exit status 1.
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

# Of four blocks, 64 draws miss the oldest once in 1e8.
step() { # POLICY: misses of batches that a cache of four nearly fills
    spillway curve smollm2-135m --layers 0 --selection 0.08% --sizes 4 --json --policy "$1" | sed 's/.*"misses":\([0-9]*\)}/\1/'
}
[ "$(step '{name: plugin:./sampled_lru.so, samples: 64}')" = "$(step lru)" ] && s=0 || s=1
check many_samples_are_lru_in_batches $s

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

spillway curve ids.u32 --policy lru,plugin:./sampled_lru.so --sizes 10,20 --db own.db | grep -q '^sampled-lru, samples 5 ' &&
    spillway plot curves own.db -o curves.svg && grep -q '<text>sampled-lru' curves.svg && ! grep -q 'plugin:' curves.svg &&
    simulate '{name: plugin:./sampled_lru.so, samples: 1}' --db own.db >table &&
    simulate lru --db own.db >table && spillway plot hits own.db -o hits.svg &&
    grep -q 'policy sampled-lru' hits.svg && ! grep -q 'plugin:' hits.svg && s=0 || s=1
check tables_and_pictures_call_a_plugin_by_its_name $s

simulate plugin:./sampled_lru.so --json >before.json
simulate plugin:./sampled_lru.so --json | cmp -s - before.json && s=0 || s=1
check the_same_plugin_is_the_same_run $s
run_of() { sed 's/.*"run":"\([0-9a-f]*\)".*/\1/' "$1"; }
printf x >>sampled_lru.so
simulate plugin:./sampled_lru.so --json >after.json
[ "$(run_of before.json)" != "$(run_of after.json)" ] && s=0 || s=1
check other_bytes_of_a_plugin_are_another_run $s

# ---- what is refused ----------------------------------------------------------------------------

# The example with one fault, which SCRIPT puts in.
build() { # SCRIPT
    sed "$1" sampled_lru.c >bad.c
    $CC -shared -fPIC -I"$include" bad.c -o bad.so
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

refused a_missing_file_is_refused 'No such file' curve
echo 'not a library' >bad.so
refused a_text_file_is_refused 'cannot load' curve
rm bad.so && mkfifo bad.so
refused a_fifo_is_refused 'is not a regular file' timeout 600 "$program" curve ids.u32 --policy plugin:./bad.so --sizes 4
rm bad.so
build ''
cp bad.so whole.so
size=$(stat -c %s whole.so)
for cut in 63 64 1000 $((size / 2)) $((size - 1)); do
    head -c "$cut" whole.so >bad.so
    refused "a_file_cut_to_${cut}_bytes_is_refused" 'is truncated' curve
done
head -c 10 whole.so >bad.so
refused a_file_cut_to_10_bytes_is_refused 'cannot load' curve
while IFS='|' read -r claim text script; do
    build "$script"
    refused "${claim}_is_refused" "$text" curve
done <<'END'
no_symbol|does not export 'spillway_policy'|s/spillway_policy = {/other = {/
another_abi|ABI 2|s/= SPILLWAY_POLICY_ABI/= SPILLWAY_POLICY_ABI + 1/
no_access|incomplete|/\.access =/d
no_name|invalid description|s/"sampled-lru"/"Not A Word"/
default_out_of_range|parameter 1|s/"samples", 5, 1/"samples", 0, 1/
many_params|parameter 9|s/\({"samples".*},\)/\1\1\1\1\1\1\1\1\1/
refusal|no more than 2 blocks|s/(void)reason;.*/return __builtin_strcpy(reason, "no more than 2 blocks"), NULL;/
more_hits|hits where|s/answer->hit++/answer->hit += 2/
fewer_hits|0 hits of 1|s/answer->hit++;//
admitted_out_of_range|admits block 4294967295|s/admit(answer->cache, block)/admit(answer->cache, NONE)/
admitted_twice|which it holds|s/answer->admit(.*/&&/
admitted_not_wanted|is not wanted|s/admit(answer->cache, block)/admit(answer->cache, block + 1)/
evicted_unheld|does not hold|s/answer->evict(.*/&&/
evicted_out_of_range|evicts block 4294967295|s/evict(answer->cache, .*/evict(answer->cache, NONE);/
above_capacity|in a cache of|s/answer->evict(.*//
reuse|without comparing queries|s/answer->lookups =/answer->reused =/
lookups|looks up 4294967295|s/answer->lookups = .*/answer->lookups = NONE;/
END
build 's/answer->hit++/answer->hit += cache->now > 60 ? 2 : 1/'
refused hits_that_cannot_be_are_found_in_a_simulation 'hits' simulate plugin:./bad.so --set trace=smollm2-135m

# Nobody watches it: the shell says how the program ended.
build 's/answer->hit++;/*(volatile int *)0 = 1;/'
status=0
curve >/dev/null 2>&1 || status=$?
[ $status -eq $((128 + $(kill -l SEGV))) ] && s=0 || s=1
check a_plugin_that_crashes_is_a_crash $s

echo "1..$number"
exit $((failures > 0))
