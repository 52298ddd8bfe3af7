#!/bin/bash
# How hash codes are learned, against results worked out by hand and slopes of the loss.
set -u
cd "$(dirname "$0")/../../.."
python=${PYTHON:-$([ -x build/capture/venv/bin/python ] && echo build/capture/venv/bin/python ||
    echo python3)}
if ! "$python" -c 'import numpy' 2>/dev/null; then
    echo "1..0 # SKIP $python or its package 'numpy' is missing"
    exit 0
fi
exec "$python" -B tests/script/traces/hash_codes.py
