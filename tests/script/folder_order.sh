#!/bin/bash
# Every #include under sim/ and hwprofiles/ points down: a folder uses itself and the folders in its
# row.
set -eu
cd "$(dirname "$0")/../.."

awk '
BEGIN {
    may["base"]     = ""
    may["engine"]   = "base"
    may["model"]    = "engine base"
    may["hardware"] = "engine base"
    may["trace"]    = "hardware model engine base"
    may["policy"]   = "trace hardware model engine base"
    may["decode"]   = "policy trace hardware model engine base"
    may["serve"]    = "decode policy trace hardware model engine base"
    may["store"]    = "base"
    may["study"]    = "store serve decode policy trace hardware model engine base"
    may["cli"]      = "study store serve decode policy trace hardware model engine base"
    may["calibrate"] = "decode policy trace hardware model base"
    may["harness"]  = "cli calibrate hardware base" # hwprofiles/calibrate/main.c
    may["."]        = "cli base" # sim/main.c
}
function folder_of(path) {
    if (path == "hwprofiles/calibrate/main.c") {
        return "harness"
    }
    sub(/^(sim|hwprofiles)\//, "", path)
    return path ~ /\// ? substr(path, 1, index(path, "/") - 1) : "."
}
/^[ \t]*#[ \t]*include[ \t]*"/ {
    split($0, quoted, "\"")
    from = folder_of(FILENAME)
    to = folder_of(quoted[2])
    includes++
    if (!(from in may)) {
        wrong = wrong "# " FILENAME ":" FNR ": folder " from " has no place in the order\n"
    } else if (to != from && index(" " may[from] " ", " " to " ") == 0) {
        wrong = wrong "# " FILENAME ":" FNR ": " from " may not use " quoted[2] "\n"
    }
}
END {
    print "1..1"
    printf "%s", wrong
    print (wrong == "" && includes > 0 ? "ok" : "not ok") " 1 - includes_point_down"
    exit wrong != "" || includes == 0
}' $(find sim hwprofiles -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.def')
