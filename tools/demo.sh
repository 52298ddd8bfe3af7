#!/bin/bash
# The main use: a question answered in words; then, on shipped recordings, one comparison and two sweeps, each as
# a table, a database and a picture in the folder $1, and a report about the first. Where it is installed
# (share/spillway/tools), the program is the one on the PATH.
set -eu
data=$(dirname "$0")/..
program=$data/build/spillway
[ -x "$program" ] || program=spillway
out=$1
mkdir -p "$out"

# STUDY KIND: run scenarios/STUDY.yaml, draw it as KIND.
study() {
    "$program" simulate "$data/scenarios/$1.yaml" --db "$out/$1.db"
    "$program" plot "$2" "$out/$1.db" -o "$out/$2.svg"
    echo
}

"$program" advise llama-3.1-8b a40 --context 64K
echo
study demo latency
study budget hits
study reuse reuse
"$program" report "$out/demo.db" -o "$out/report.html"
echo "databases and pictures: $out/{demo,budget,reuse}.db $out/{latency,hits,reuse}.svg"
echo "report about the first: $out/report.html"
