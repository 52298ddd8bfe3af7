#!/bin/bash
# What Python answers is what the command line answers: 20 of the questions of tests/differential/python.py.
set -u
cd "$(dirname "$0")/../.." || exit 1
if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP python3 is missing"
    exit 0
fi
export XDG_CACHE_HOME=/dev/null PYTHONDONTWRITEBYTECODE=1
exec python3 tests/differential/python.py --count 20 --jobs 1 "${PROGRAM:-build/spillway}"
