#!/bin/bash
# The rule and the cuts behind the tables of traces/families.py.
set -u
cd "$(dirname "$0")/../../.."
program=$(realpath "${PROGRAM:-build/spillway}")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
. tests/script/tap.bash
exec 2>"$scratch/said"

families() { PYTHONPATH=traces python3 -B -c "from families import *; $1" >&2; }

plain_ranges() {
    families 'assert all(abs(chance_inside(n, 0) - (n - 1) / (n + 1)) < 1e-12 for n in (2, 3))'
}
half() { families 'assert abs(widening(2, 1/2) - (3 ** .5 - 1) / 2) < 1e-6 and widening(3, 1/2) < 1e-6'; }
two_in_three() { families 'assert abs(widening(2, 2/3) - 1) < 1e-6'; }

# rows FILE STEPS LAYER: the lines of these steps (a pattern) of a layer, without their places.
rows() { traces/convert/text.py "$1" -o "$1.csv" && sed -n "s/^0,$2,$3,//p" "$1.csv"; }
cuts_keep_rows() {
    "$program" trace generate smollm2-135m --context 256 --steps 6 -o "$scratch/whole.swt" >&2 &&
        families "cut('$scratch/whole.swt', Path('$scratch/cut.swt'), 2, 5, [4, 7])" &&
        cmp <(rows "$scratch/whole.swt" '[234]' 7) <(rows "$scratch/cut.swt" '[0-9]*' 1) >&2
}

echo 1..4
check 'the range of n holds one more with a chance of (n - 1) / (n + 1)' plain_ranges
check 'for one half, two families are widened by (sqrt(3) - 1) / 2, three not at all' half
check 'for two thirds, two families are widened by their whole range' two_in_three
check 'a cut has the rows of its steps and layers' cuts_keep_rows
exit $failed
