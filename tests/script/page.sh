#!/bin/bash
# The page of `spillway report` in a headless Chromium: it loads alone and without a complaint, its sliders
# stop at computed points, and every number in it is the database's. Skipped, with a reason, where there is no
# Chromium; the hash of the page's script is compared everywhere. UPDATE=1 writes that hash.
set -eu
cd "$(dirname "$0")/../.."
program=$(realpath -m "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_CACHE_HOME=$scratch/cache SPILLWAY_DATA=$PWD

hash=$(cd plots/report && cat page.js runs.js charts.js start.js | python3 -c "import base64, hashlib, sys
print(base64.b64encode(hashlib.sha256(sys.stdin.buffer.read()).digest()).decode())")
policy="default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-$hash'"
[ "${UPDATE:-0}" = 0 ] || printf %s "$policy" >plots/report/policy.txt
if [ "$(cat plots/report/policy.txt)" != "$policy" ]; then
    echo "# UPDATE=1 $0 writes the hash of the script to plots/report/policy.txt"
    echo 'not ok - the policy of the page names its script'
    exit 1
fi
echo 'ok - the policy of the page names its script'

if ! (cd tests/script && python3 -c 'import browser, sys; sys.exit(browser.program() is None)'); then
    echo 'ok - # SKIP the page in a browser: there is no chromium here (apt-get install chromium)'
    exit 0
fi
cat >"$scratch/study.yaml" <<'END'
model: smollm2-135m
hardware: a40
steps: 4
sweep:
  system: [fullattn, retroinfer, clo]
  context: [512, 1024, 3840]
  batch: [1, 4]
  hardware.link: [pcie3-x16, pcie5-x16]
END
"$program" simulate "$scratch/study.yaml" --db "$scratch/study.db" --json >"$scratch/table"
"$program" report "$scratch/study.db" -o "$scratch/study.html"
"$program" advise llama-3.1-8b a40 --rate 0.5 --workload synthetic:prompt=2000,output=100,requests=30 \
    --html "$scratch/advice.html" >"$scratch/advice"
python3 tests/script/page.py "$program" "$scratch"
