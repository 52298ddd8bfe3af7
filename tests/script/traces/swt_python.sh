#!/bin/bash
# Tests the Python implementation of decode traces (traces/swt.py) and the C one against each other.
set -u
cd "$(dirname "$0")/../../.."
python=${PYTHON:-$([ -x build/capture/venv/bin/python ] && echo build/capture/venv/bin/python ||
    echo python3)}
if ! command -v "$python" >/dev/null; then
    echo "1..0 # SKIP $python is missing"
    exit 0
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -B tests/script/traces/swt_python.py "$(realpath "${PROGRAM:-build/spillway}")" "$scratch"
