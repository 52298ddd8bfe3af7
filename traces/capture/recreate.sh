#!/bin/bash
# Record the shipped traces again from scratch, into traces or the folder named as argument.
# Downloads stay in build/capture.
set -eu
. "$(dirname "$0")/prepare.sh"

folder=${1:-$root/traces}

hash_of() { [ ! -e "$1" ] || sha256sum "$1" | cut -d' ' -f1; }

# Record trace $1 of model $2 with the options that follow, at 3840 tokens unless they say otherwise.
again() {
    local out=$folder/$1.swt model=$2 before
    shift 2
    before=$(hash_of "$out")
    record "$model" "$out" --context 3840 "$@"
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

again smollm2-135m smollm2-135m "${policy[@]}" --steps 76 --keep 20%
again smollm2-135m-clusters smollm2-135m "${policy[@]}" --steps 76 --keep 20% --unit cluster:16
again smollm2-135m-speculated smollm2-135m "${policy[@]}" --steps 32 --keep 12% \
    --speculate previous-layer
again qwen2.5-coder-0.5b qwen2.5-coder-0.5b "${policy[@]}" --steps 128 --keep 30%
again gemma-3-270m gemma-3-270m "${policy[@]}" --steps 128 --keep 30% --layers 5,11,17

# A text that comes back to its beginning: 1024 steps of which the last 460 ask about the prefix.
part() { gzip -dcf "$text" | tail -c +$(($1 + 1)) | head -c "$2"; }
question='Question: what does the text say at its very beginning? Answer: it says this.'
(
    set +o pipefail # the text goes on behind each part
    part 30000 7400
    part 120000 3000
    printf '\n\n\n%s\n\n' "$question"
    part 30000 2600
    part 120000 3000
) >"$work/back.txt"
again smollm2-135m-return smollm2-135m --text "$work/back.txt" --context 1920 --steps 1024 \
    --keep 30% --layers 11,21
