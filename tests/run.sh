#!/bin/bash
# Run test commands that speak TAP, several at a time, and add them up.
#
#   tests/run.sh COMMAND...     each COMMAND is one line of shell
#
# Commands that tests/slow names start first, in its order, so that no long command runs alone at the end.
#
# A command that passes prints one line, with the seconds of CPU that it took: they depend less than its time
# on what else the machine does. A command that fails prints all its output. Tests that its plan ("1..N")
# announced and that never ran count as failed, and so does a bad exit status without a failed test. The end
# says which commands took most, and why tests were skipped. The last line is "N passed, N failed", with
# ", N skipped" if some were skipped.
set -u
export LC_ALL=C.UTF-8 # numbers with a point
export CMOCKA_MESSAGE_OUTPUT=TAP
unset SPILLWAY_DATA
export XDG_CACHE_HOME=/dev/null # no folder: no command finds what another one kept
# Freed memory is kept long enough to catch its use, but not so long that it leaves the processor's caches.
export ASAN_OPTIONS=${ASAN_OPTIONS-quarantine_size_mb=2}
: "${TEST_TIMEOUT:=3600}" # seconds for one command, on a busy and slow machine, too
MOST=10                   # commands that the end names

# Run one command; leave "passed failed skipped seconds command" in the file $2.
run_one() {
    local output status counts passed failed skipped seconds
    output=$(timeout "$TEST_TIMEOUT" bash -c "$1" 2>&1 </dev/null | tr -d '\0'
             exit "${PIPESTATUS[0]}")
    status=$?
    times >"$2" # its second line: of the processes that have ended, user and system, as 0m1.234s
    seconds=$(awk -F '[ms ]+' 'NR == 2 { printf "%.1f", 60 * ($1 + $3) + $2 + $4 }' "$2")
    counts=$(awk -v status="$status" '
        /^[ \t]*1\.\.0 .*# SKIP/      { skipped++; next }
        /^[ \t]*1\.\.[0-9]+/          { split($0, plan, /\.\./); planned += plan[2]; plans++ }
        /^[ \t]*(not )?ok .*# SKIP/   { skipped++; next }
        /^[ \t]*ok /                  { passed++ }
        /^[ \t]*not ok /              { failed++ }
        END {
            seen = passed + failed + skipped
            if (planned > seen) failed += planned - seen
            if (failed == 0 && (status != 0 || seen == 0 && !plans)) failed++
            print passed + 0, failed + 0, skipped + 0
        }' <<<"$output")
    echo "$counts $seconds ${1#build/}" >"$2"
    sed -nE "s~^[ \t]*(1[.][.]0|ok) (.*)?# SKIP *(.*)~\3 (${1##*/})~p" <<<"$output" >"$2.why"
    read -r passed failed skipped <<<"$counts"
    if [ "$failed" -gt 0 ]; then
        printf 'FAIL  %s  (exit status %d)\n%s\n' "$1" "$status" "$output"
    else
        printf 'ok    %-70s %6.1f s %4d passed%s\n' "${1#build/}" "$seconds" "$passed" \
            "$([ "$skipped" -eq 0 ] || echo ", $skipped skipped")"
    fi
}

if [ "${1-}" = --one ]; then
    run_one "$2" "$(mktemp "$3/XXXXXX")"
    exit 0
fi

counts=$(mktemp -d)
trap 'rm -rf "$counts"' EXIT
# Scripts that run the commands of pages, pictures, notebooks and papers: they ask for the same replays.
export SHARED_CACHE=$counts/shared.cache
mkdir "$SHARED_CACHE"
printf '%s\n' "$@" | awk -v slow="${0%/*}/slow" '
    BEGIN { while ((getline line <slow) > 0) if (line !~ /^(#|$)/) slow_ones[++count] = line }
    {
        place = 1
        while (place <= count && $0 !~ slow_ones[place]) place++
        commands[place] = commands[place] $0 "\n"
    }
    END { for (place = 1; place <= count + 1; place++) printf "%s", commands[place] }' |
    while IFS= read -r command; do
        printf '%s\0%s\0' "$command" "$counts"
    done | xargs -0 -n 2 -P "$(nproc)" "$0" --one
sort "$counts"/*.why | uniq -c | sort -rn >"$counts/skipped"
sort -k 4 -rn "$counts"/?????? | awk -v most="$MOST" -v why="$counts/skipped" '
    { passed += $1; failed += $2; skipped += $3; seconds += $4 }
    NR <= most { row = $4; $1 = $2 = $3 = $4 = ""; rows[NR] = sprintf("  %6.1f s %s", row, $0) }
    END {
        printf "%.1f CPU minutes; most of them took:\n", seconds / 60
        for (row = 1; row <= NR && row <= most; row++) print rows[row]
        if ((getline line <why) > 0) print "skipped:\n" line
        while ((getline line <why) > 0) print line
        printf "%d passed, %d failed", passed, failed
        if (skipped) printf ", %d skipped", skipped
        print ""
        exit failed > 0 || passed == 0
    }'
