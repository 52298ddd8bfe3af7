#!/bin/bash
# The honesty study: the difference of twins from recordings that their fit saw, and from others.
#
#   traces/study.sh [FOLDER]     the table of docs/bands.md, as Markdown; misses in bold
#
# Recordings are kept in FOLDER (default build/study) and made where they are missing, a quarter of an
# hour on 2 cores: SmolLM2-135M at 1920, 3840 and 7680 tokens of the Debian Policy Manual, and at 3840
# of libpng's manual; 384 steps each. What recording needs comes from capture/prepare.sh.
set -euo pipefail

. "$(dirname "$0")/capture/prepare.sh"

folder=${1:-$root/build/study}
program=$(realpath "${PROGRAM:-$root/build/spillway}")
policy=(debian-policy /usr/share/doc/debian-policy/policy.txt.gz 30000)
libpng=(libpng16-16 /usr/share/doc/libpng16-16/libpng-manual.txt.gz 20000)

record_missing() { # NAME CONTEXT PACKAGE TEXT OFFSET
    local out=$folder/$1.swt text
    [ ! -e "$out" ] || return 0
    prepare
    text=$(find_text "$3" "$4")
    say "recording $1"
    record smollm2-135m "$out" --text "$text" --offset "$5" --context "$2" --steps 384
}

# One JSON object a comparison, in the order of the columns.
compare() {
    cd "$folder"
    "$program" trace fit ./policy-3840.swt --json --check ./policy-7680.swt --check ./libpng-3840.swt
    "$program" trace fit ./policy-1920.swt --json --check ./policy-3840.swt --check ./policy-7680.swt
}

print_table() {
    python3 -c '
import json, sys
reports = [json.loads(line) for line in sys.stdin]
columns = ["3840, its own twin", "3840 → 7680", "3840, another text",
           "1920, its own twin", "1920 → 3840", "1920 → 7680"]
limits = {"overlap": .03, "cosine": 2, "reuse": .04, "mass": .015, "fresh": .015}
print("| figure | " + " | ".join(columns) + " |")
print("|---" * (len(columns) + 1) + "|")
for name in reports[0]:
    if not isinstance(reports[0][name], dict):
        continue
    cells = []
    for report in reports:
        was, twin = (report[name][key] for key in ("recording", "twin"))
        text = f"{was:.3f} {round(100 * (twin - was), 1) + 0:+.1f}".replace("0.", ".", 1)
        hits = .02 if report["context"] == report["fitted_context"] else .04
        limit = limits.get(name.split("_")[0], hits)
        cells.append(f"**{text}**" if abs(twin - was) > limit else text)
    print(f"| `{name}` | " + " | ".join(cells) + " |")
'
}

mkdir -p "$folder"
record_missing policy-1920 1920 "${policy[@]}"
record_missing policy-3840 3840 "${policy[@]}"
record_missing policy-7680 7680 "${policy[@]}"
record_missing libpng-3840 3840 "${libpng[@]}"
compare | print_table
