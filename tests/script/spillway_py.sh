#!/bin/bash
# python/spillway/results.py reads the program's databases: its examples work unchanged, and it reads the same
# values that the program prints.
set -u
cd "$(dirname "$0")/../.."
if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP python3 is missing"
    exit 0
fi
program=$(realpath "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
tests=$PWD/tests/script/spillway_py.py
cd "$scratch" || exit 1
"$program" simulate --set model=smollm2-135m --set hardware=a40 --set context=3840 \
    --set 'sweep.batch=[1, 4]' --set 'sweep.system=[fullattn, retroinfer-10pct]' --db results.db --json >runs.json &&
    "$program" curve smollm2-135m --policy lru --sizes 10%,20% --db results.db --json >curve.json &&
    python3 "$tests"
