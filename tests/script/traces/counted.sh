#!/bin/bash
# The rows of traces/README.md on what drafts ask for are those of traces/unions.py, and a twin is near them; those of
# docs/bands.md on what heads attend to outside the window are those of traces/outside.py.
set -u
cd "$(dirname "$0")/../../.." || exit
program=$(realpath "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. tests/script/tap.bash
exec 2>"$scratch/said"

rows() { python3 -B "traces/$1.py" "$program" "${@:2}"; }
has_rows() { # PAGE SCRIPT TRACE TRACE
    [ "$(rows "${@:2}" | tail -n 2 | grep -cxFf "$1")" = 2 ]
}
twin_is_near() {
    "$program" trace fit gemma-3-270m -o "$scratch/twin.yaml" >&2 &&
        "$program" trace generate "$scratch/twin.yaml" --steps 128 -o "$scratch/twin.swt" &&
        paste <(rows unions traces/gemma-3-270m.swt | tr -d '|') <(rows unions "$scratch/twin.swt" | tr -d '|') |
        awk '{for (i = 2; i <= 7; i++) if ($(i + 7) / $i < 0.96 || $(i + 7) / $i > 1.04) exit 1}' >&2
}

echo 1..3
check 'the page of drafts has the rows that are counted' has_rows traces/README.md unions traces/gemma-3-270m{,-code}.swt
check 'the page of bands has the rows that are counted' \
    has_rows docs/bands.md outside traces/{smollm2-135m,qwen2.5-coder-0.5b}-code.swt
check 'the unions of a twin are off by at most 4 %' twin_is_near
exit $failed
