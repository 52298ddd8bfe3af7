#!/bin/bash
# The quick part of `make papers`: scenarios/papers/figures.md shows the results of these files, README.md
# counts all figures as that page has them, and the errors of results are of the same run. After a change that
# is meant to move predictions, run `make papers UPDATE=1`.
set -u
cd "$(dirname "$0")/../.."
if ! python3 -c 'import yaml' 2>/dev/null; then
    echo "1..0 # SKIP python3 has no PyYAML"
    exit 0
fi
SPILLWAY_PROGRAM=$(realpath -m "${PROGRAM:-build/spillway}")
export SPILLWAY_PROGRAM PYTHONPATH=python
page=scenarios/papers/README.md
figures=scenarios/papers/figures.md
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/cache"
export XDG_CACHE_HOME=${SHARED_CACHE:-$scratch/cache} # answers are the same without it, and take longer
quick=(papers/{geometry,pcie5,pools} measured/a6000)
orders=(scenarios/papers/{clo,litecache,hgca,h100-retroinfer,two-tier-server,capture}.yaml)
claims=4
number=0
failed=0

report() { # STATUS NAME
    number=$((number + 1))
    [ "$1" = 0 ] && echo "ok $number - $2" && return
    echo "not ok $number - $2"
    failed=1
}

# A page's section, from its heading to the next one, without empty lines.
section() { # HEADING FILE
    awk -v heading="$1" '/^## / { inside = $0 == heading } inside && NF' "$2"
}

echo "1..$((${#quick[@]} + claims))"
for name in "${quick[@]}"; do
    python3 -B -m spillway.papers "scenarios/$name.yaml" >"$scratch/table" 2>&1
    heading=$(sed -n '/^# Every/,$p' "$scratch/table" | grep -m 1 '^## ')
    diff <(section "$heading" "$figures") <(section "$heading" "$scratch/table") | sed 's/^/# /'
    status=$((PIPESTATUS[0] != 0 || ${#heading} == 0))
    report $status "the page shows what $name comes to"
done

# What the papers argue from, each a sign: of these files the orders that are quick to compute. `make papers`
# has all.
argued='FIFO, context 65536|threshold|threads|FlexGen, batch 4|copies|one query|gain of|gain over [Fa]|first token|busy'
python3 -B -m spillway.papers "${orders[@]}" --orders "$argued" >"$scratch/orders" 2>&1
status=$?
grep -Fvxf "$figures" "$scratch/orders" | sed 's/^/# /'
report $((status || PIPESTATUS[0] == 0)) "systems come in the order that the page has"

# "dense TPOT 98 11 -11 … +16 %" of either.
awk -F '[:,{} ]+' '/figures:/ {
    name = substr($0, 1, index($0, ":") - 1)
    sub(/.*[{]/, "")
    split($0, part, /[:,x }]+/)
    printf "%s %d %d %+.0f … %+.0f %%\n", name, part[2], part[4], 100 * part[6] - 100, 100 * part[8] - 100
}' scenarios/error-bands.yaml >"$scratch/bands"
section '## How far predictions are off' "$page" | awk -F ' *[|] *' '$6 ~ /%/ {
    print $2 ($3 == "rate of a step" ? "" : " " $3), $4, $5, $6 }' >"$scratch/shown"
diff "$scratch/bands" "$scratch/shown" | sed 's/^/# /'
report $((PIPESTATUS[0] != 0)) "the page shows the errors that results carry"

# "figures met missed not-comparable" of all, as the figures have them and as the count has them.
awk -F ' *[|] *' '$8 ~ /^(met|.*missed.*|not comparable)$/ { all++; count[$8 ~ /missed/ ? "missed" : $8]++ }
    END { print all, count["met"], count["missed"], count["not comparable"] }' "$figures" >"$scratch/counted"
section '## By source' "$page" | awk -F ' *[|] *' '/^[|] [*][*]all/ { print $3, $5, $6, $7 }' >"$scratch/stated"
diff "$scratch/counted" "$scratch/stated" | sed 's/^/# /'
report $((PIPESTATUS[0] != 0)) "the count by source is of these figures"

# Each printed figure names rows that exist, each row of these papers is named, and the table counts both.
python3 -B -m spillway.printed scenarios/papers >"$scratch/printed" 2>&1
status=$?
diff <(section '## By paper' "$page") <(section '## By paper' "$scratch/printed") | sed 's/^/# /'
report $((status || PIPESTATUS[0] != 0)) "the count by paper is of what the papers print, and names every row"
exit $failed
