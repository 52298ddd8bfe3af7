#!/bin/bash
# Counts unions of adjacent demands a second time, in Python. UNIONS=all counts every layer.
cd "$(dirname "$0")/../../.." || exit
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
python3 -B tests/script/traces/unions.py "${PROGRAM:-build/spillway}" "$scratch" ${UNIONS:-}
