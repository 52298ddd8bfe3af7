#!/bin/bash
# Hold all predictions against what papers state and print the tables. UPDATE=1 also writes them into
# README.md, below its own text, and figures.md, and the error bands that every result carries.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
export SPILLWAY_PROGRAM=${PROGRAM:-$root/build/spillway} PYTHONPATH=$root/python
bands=$root/scenarios/error-bands.yaml
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

echo "computing all predictions anew: some minutes" >&2
python3 -B -m spillway.papers "$here"/*.yaml "$root"/scenarios/measured/*.yaml --printed "$here" --errors "$scratch/bands" >"$scratch/table"
cat "$scratch/table"
[ "${UPDATE:-0}" = 0 ] && exit
{
    sed '/^<!-- below: make papers -->$/q' "$here/README.md"
    sed '/^# Every published figure/,$d' "$scratch/table" | sed '$d'
} >"$scratch/page"
cp "$scratch/page" "$here/README.md"
sed -n '/^# Every published figure/,$p' "$scratch/table" >"$here/figures.md"
cp "$scratch/bands" "$bands"
