#!/bin/bash
# The notebooks of examples/notebooks print what they hold. UPDATE=1 rewrites that; review the diff.
set -u
cd "$(dirname "$0")/../.." || exit 1
if ! command -v python3 >/dev/null; then
    echo "1..0 # SKIP python3 is missing"
    exit 0
fi
SPILLWAY_PROGRAM=$(realpath "${PROGRAM:-build/spillway}")
export SPILLWAY_PROGRAM PYTHONPATH=$PWD/python PYTHONDONTWRITEBYTECODE=1 XDG_CACHE_HOME=${SHARED_CACHE:-/dev/null}
exec python3 tests/script/notebooks.py
