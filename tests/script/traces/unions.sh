#!/bin/bash
# The rows of traces/README.md on what drafts ask for are those of traces/unions.py, and a twin is near them.
set -u
cd "$(dirname "$0")/../../.." || exit
program=$(realpath "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. tests/script/tap.bash
exec 2>"$scratch/said"

rows() { python3 -B traces/unions.py "$program" "$@"; }
page_has_rows() { [ "$(rows traces/gemma-3-270m.swt traces/gemma-3-270m-code.swt | grep -cxFf traces/README.md)" = 2 ]; }
twin_is_near() {
    "$program" trace fit gemma-3-270m -o "$scratch/twin.yaml" >&2 &&
        "$program" trace generate "$scratch/twin.yaml" --steps 128 -o "$scratch/twin.swt" &&
        paste <(rows traces/gemma-3-270m.swt | tr -d '|') <(rows "$scratch/twin.swt" | tr -d '|') |
        awk '{for (i = 2; i <= 7; i++) if ($(i + 7) / $i < 0.96 || $(i + 7) / $i > 1.04) exit 1}' >&2
}

echo 1..2
check 'the page has the rows that are counted' page_has_rows
check 'the unions of a twin are off by at most 4 %' twin_is_near
exit $failed
