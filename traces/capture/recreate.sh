#!/bin/bash
# Record the shipped traces again from scratch, into traces or the folder named as argument.
# Downloads stay in build/capture.
set -eu
. "$(dirname "$0")/prepare.sh"

folder=${1:-$root/traces}

hash_of() { [ ! -e "$1" ] || sha256sum "$1" | cut -d' ' -f1; }

# Record trace $1 of model $2 with the options that follow.
again() {
    local out=$folder/$1.swt model=$2 before
    shift 2
    before=$(hash_of "$out")
    record "$model" "$out" "$@"
    if [ "$before" = "$(hash_of "$out")" ]; then
        say "$(basename "$out"): same bytes as before"
    elif [ -n "$before" ]; then
        say "$(basename "$out"): other bytes than before: another version of the text, another" \
            "compiler or kind of CPU"
    fi
}

prepare
text=$(find_text debian-policy /usr/share/doc/debian-policy/policy.txt.gz)
policy=(--text "$text" --offset 30000)
text=$(find_text libjs-jquery /usr/share/javascript/jquery/jquery.js)
code=(--text "$text" --offset 20000)
wide=(--context 3840 --steps 128 --keep 30%)
long=(--context 1920 --steps 1024 --keep 30% --no-queries)

again smollm2-135m smollm2-135m "${policy[@]}" --context 3840 --steps 76 --keep 20%
again smollm2-135m-clusters smollm2-135m "${policy[@]}" --context 3840 --steps 76 --keep 20% \
    --unit cluster:16
again smollm2-135m-speculated smollm2-135m "${policy[@]}" --context 3840 --steps 32 --keep 12% \
    --speculate previous-layer
again smollm2-135m-code smollm2-135m "${code[@]}" "${wide[@]}" --layers 2,7,12,17,22,27
again smollm2-135m-long smollm2-135m "${policy[@]}" "${long[@]}" --layers 11
again qwen2.5-coder-0.5b qwen2.5-coder-0.5b "${policy[@]}" "${wide[@]}"
again qwen2.5-coder-0.5b-code qwen2.5-coder-0.5b "${code[@]}" "${wide[@]}" --layers 2,7,12,17,22
again qwen2.5-coder-0.5b-long qwen2.5-coder-0.5b "${policy[@]}" "${long[@]}" --layers 18
again gemma-3-270m gemma-3-270m "${policy[@]}" "${wide[@]}" --layers 5,11,17
again gemma-3-270m-code gemma-3-270m "${code[@]}" "${wide[@]}" --layers 5,11,17
again gemma-3-270m-long gemma-3-270m "${policy[@]}" "${long[@]}" --layers 5,11,17
