#!/bin/bash
# What 'advise' answers holds in 'simulate': five of the questions of tests/differential/advise.py.
set -u
cd "$(dirname "$0")/../.."
if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP python3 is missing"
    exit 0
fi
export XDG_CACHE_HOME=/dev/null PYTHONDONTWRITEBYTECODE=1
exec python3 tests/differential/advise.py --small --only 0,3,4,6,9 --jobs 1 \
    "${PROGRAM:-build/spillway}"
