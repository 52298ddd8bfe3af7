#!/bin/bash
# The shipped schema is the one that the program prints, and agrees with the program.
# UPDATE=1 rewrites it.
set -u
cd "$(dirname "$0")/../.."
program=$(realpath "${PROGRAM:-build/spillway}")
file=scenarios/schema.json

[ "${UPDATE:-0}" = 0 ] || "$program" schema >$file
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/cache"
export XDG_CACHE_HOME=$scratch/cache # answers are the same without it, and take longer
stale=0
echo "1..1"
"$program" schema >"$scratch/schema.json"
if cmp "$scratch/schema.json" $file; then
    echo "ok 1 - $file is what the program prints"
else
    echo "not ok 1 - $file is what the program prints: UPDATE=1 tests/script/schema.sh rewrites it"
    stale=1
fi
if ! python3 -c 'import jsonschema, yaml' 2>/dev/null; then
    echo "ok 2 - scenarios and slips # SKIP python3 has no jsonschema or no PyYAML"
    exit $stale
fi
python3 -B tests/script/schema.py "$program" $file "$scratch" || stale=1
exit $stale
