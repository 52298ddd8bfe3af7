#!/bin/bash
# The table of systems and of the published figures that judged them is the one that the rows give.
# UPDATE=1 rewrites it, after `make papers UPDATE=1`.
set -u
cd "$(dirname "$0")/../.." || exit 1
if ! python3 -c 'import yaml' 2>/dev/null; then
    echo "1..0 # SKIP python3 has no PyYAML"
    exit 0
fi
exec python3 -B tests/script/judged.py
