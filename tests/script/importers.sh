#!/bin/bash
# The scripts of hwprofiles/import on made-up rows, and on invalid input.
set -u
cd "$(dirname "$0")/../.."
python=${PYTHON:-$([ -x build/capture/venv/bin/python ] && echo build/capture/venv/bin/python ||
    echo python3)}
if ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "1..0 # SKIP $python or its package 'numpy' is missing"
    exit 0
fi
exec "$python" -B tests/script/importers.py
