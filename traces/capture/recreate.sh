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
manual=$(find_text debian-policy /usr/share/doc/debian-policy/policy.txt.gz)
source=$(find_text libjs-jquery /usr/share/javascript/jquery/jquery.js)
policy=(--text "$manual" --offset 30000)
code=(--text "$source" --offset 20000)
wide=(--context 3840 --steps 128 --keep 30%)
long=(--context 1920 --steps 1024 --keep 30% --no-queries)

again smollm2-135m smollm2-135m "${policy[@]}" --context 3840 --steps 76 --keep 20%
again smollm2-135m-clusters smollm2-135m "${policy[@]}" --context 3840 --steps 76 --keep 20% \
    --unit cluster:16
again smollm2-135m-speculated smollm2-135m "${policy[@]}" --context 3840 --steps 32 --keep 12% \
    --speculate previous-layer
again smollm2-135m-code smollm2-135m "${code[@]}" "${wide[@]}" --layers 2,7,12,17,22,27
again qwen2.5-coder-0.5b qwen2.5-coder-0.5b "${policy[@]}" "${wide[@]}"
again qwen2.5-coder-0.5b-code qwen2.5-coder-0.5b "${code[@]}" "${wide[@]}" --layers 2,7,12,17,22
again qwen2.5-coder-0.5b-long qwen2.5-coder-0.5b "${policy[@]}" "${long[@]}" --layers 18
again gemma-3-270m gemma-3-270m "${policy[@]}" "${wide[@]}" --layers 5,11,17
again gemma-3-270m-code gemma-3-270m "${code[@]}" "${wide[@]}" --layers 5,11,17
again gemma-3-270m-long gemma-3-270m "${policy[@]}" "${long[@]}" --layers 5,11,17

# A text that comes back to its beginning: 1024 steps of which the last 460 ask about the prefix.
part() { gzip -dcf "$manual" | tail -c +$(($1 + 1)) | head -c "$2"; }
question='Question: what does the text say at its very beginning? Answer: it says this.'
(
    set +o pipefail # the text goes on behind each part
    part 30000 7400
    part 120000 3000
    printf '\n\n\n%s\n\n' "$question"
    part 30000 2600
    part 120000 3000
) >"$work/back.txt"
again smollm2-135m-return smollm2-135m --text "$work/back.txt" "${long[@]}" --layers 21
