#!/bin/bash
# The rows of docs/bands.md on what heads attend to outside the window are those of traces/outside.py.
set -u
cd "$(dirname "$0")/../../.." || exit
program=$(realpath "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. tests/script/tap.bash
exec 2>"$scratch/said"

rows() { python3 -B traces/outside.py "$program" "$@"; }
page_has_rows() { [ "$(rows traces/{smollm2-135m,qwen2.5-coder-0.5b}-code.swt | tail -n 2 | grep -cxFf docs/bands.md)" = 2 ]; }

echo 1..1
check 'the page has the rows that are counted' page_has_rows
exit $failed
