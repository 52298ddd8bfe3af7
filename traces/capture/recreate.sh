#!/bin/bash
# Record the shipped traces again from scratch: traces/smollm2-135m.swt, or the file named as argument;
# beside it NAME-clusters.swt, the clusters of the same run, and NAME-speculated.swt, the units asked for
# a layer ahead in its first steps. Downloads stay in build/capture.
set -eu
. "$(dirname "$0")/prepare.sh"

out=${1:-$root/traces/smollm2-135m.swt}

hash_of() { [ ! -e "$1" ] || sha256sum "$1" | cut -d' ' -f1; }

record_again() {
    local out=$1 before
    shift
    before=$(hash_of "$out")
    record "$out" --text "$text" --offset 30000 --context 3840 "$@"
    if [ "$before" = "$(hash_of "$out")" ]; then
        say "$(basename "$out"): same bytes as before"
    elif [ -n "$before" ]; then
        say "$(basename "$out"): other bytes than before: another version of the text, another" \
            "compiler or kind of CPU"
    fi
}

prepare
text=$(find_text debian-policy /usr/share/doc/debian-policy/policy.txt.gz)
record_again "$out" --steps 76 --keep 20%
record_again "${out%.swt}-clusters.swt" --steps 76 --keep 20% --unit cluster:16
record_again "${out%.swt}-speculated.swt" --steps 32 --keep 12% --speculate previous-layer
