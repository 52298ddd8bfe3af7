#!/bin/bash
# What 'advise' answers holds in 'simulate': ten of the questions of tests/differential/advise.py.
set -u
cd "$(dirname "$0")/../.."
if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP python3 is missing"
    exit 0
fi
export XDG_CACHE_HOME=/dev/null PYTHONDONTWRITEBYTECODE=1
exec python3 tests/differential/advise.py --small --only 0,2,3,9,13,19,23,26,31,41 --jobs 1 \
    "${PROGRAM:-build/spillway}"
