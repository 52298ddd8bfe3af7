#!/bin/bash
# The Python module: its examples work unchanged, it returns what the program prints, and says what the
# program says.
set -u
cd "$(dirname "$0")/../.." || exit 1
if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP python3 is missing"
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
SPILLWAY_PROGRAM=$(realpath "${PROGRAM:-build/spillway}")
export SPILLWAY_PROGRAM PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1
tests=$PWD/tests/script/python.py
cd "$scratch" && exec python3 "$tests"
