#!/bin/bash
# The scripts of traces/convert on files made by hand, whose traces are known, and on invalid files.
set -u
cd "$(dirname "$0")/../../.."
python=${PYTHON:-python3}
if ! command -v "$python" >/dev/null; then
    echo "1..0 # SKIP $python is missing"
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -B tests/script/traces/converters.py "$(realpath "${PROGRAM:-build/spillway}")" "$scratch"
