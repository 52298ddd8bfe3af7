#!/bin/bash
# Every #include points up the list below, so that no two folders include each other, directly or
# through others. Each folder of code has one line, and may use the folders above it, except those
# that its line names after a dash. A family of commands has a line if another one uses it; any other
# is used by the last two lines alone.
set -eu
cd "$(dirname "$0")/../.."

order='
sim/core
sim/core/engine
sim/model
sim/model/read
sim/decode/draft
sim/machine
sim/trace/format
sim/trace
sim/trace/generate
sim/trace/fit
sim/policy
sim/decode/replay
sim/decode
sim/decode/cost
sim/decode/plan
sim/decode/time
sim/decode/miniature
sim/server/requests
sim/server/prefix
sim/server
sim/predict/result - model machine trace policy decode server
sim/tables - model machine trace policy decode server
sim/store - model machine trace decode server
sim/predict/decode - server store
sim/predict/command - model machine trace policy decode store
sim/predict/scenario - store
sim/predict/server - store
sim/predict - store
sim/study/sweep
sim/study/whatif
sim/study/plan
sim/study/advise
sim/study/ablate
sim/study/papers
sim/cli/frame
sim/cli/trace
sim/cli/runs
sim/cli/report
sim/cli/plan
sim/cli/FAMILY
sim/cli
sim
'
# Folders that no folder of the harness may use, apart from its programs.
upper='server store predict tables study cli'
order+="
calibrate/measure - $upper model trace policy decode
calibrate/device - $upper model machine trace policy decode
calibrate/kernels - $upper model machine trace policy decode
calibrate/host - $upper model machine device kernels
calibrate/disk - $upper model trace policy decode host device kernels
calibrate/link - $upper model machine trace policy decode
calibrate/gpu - $upper machine trace policy decode host link
calibrate/mini - $upper model machine link gpu
calibrate/import - $upper model machine trace policy decode device kernels host link gpu mini
calibrate/harness - model trace policy decode server store predict tables study
"

find sim calibrate \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def' \) -print0 |
    xargs -0 awk -v order="$order" '
BEGIN {
    count = split(order, lines, "\n")
    for (i = 1; i <= count; i++) {
        split(lines[i], parts, " - ")
        rank[parts[1]] = i
        refused[parts[1]] = " " parts[2] " "
    }
}
function folder_of(path) {
    sub(/\/[^\/]*$/, "", path)
    return path
}
# Includes are written from sim/, or from the root.
function included(path) {
    return rank_of("sim/" folder_of(path)) ? "sim/" folder_of(path) : folder_of(path)
}
function rank_of(folder) {
    if (!(folder in rank) && folder ~ /^sim\/cli\/[a-z_]+$/) rank[folder] = rank["sim/cli/FAMILY"]
    return rank[folder]
}
function part_of(folder) {
    split(folder, parts, "/")
    return parts[2]
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    from = folder_of(FILENAME)
    to = included(quoted[2])
    includes++
    if (!rank_of(from)) {
        wrong = wrong "# " FILENAME ": folder " from " has no place in the order\n"
    } else if (to != from && (!rank_of(to) || rank[to] >= rank[from] ||
                              index(refused[from], " " part_of(to) " "))) {
        wrong = wrong "# " FILENAME ":" FNR ": " from " may not use " quoted[2] "\n"
    }
}
END {
    print "1..1"
    printf "%s", wrong
    print (wrong == "" && includes > 0 ? "ok" : "not ok") " 1 - includes_point_up"
    exit wrong != "" || includes == 0
}'
