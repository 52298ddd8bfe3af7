#!/bin/bash
# Measure the shipped example again, on this machine, which should be idle: writes the host to a shipped
# profile, and the output of validate to docs/calibrate.md, between two marks. Takes under five minutes.
set -eu
cd "$(dirname "$0")/.."
profile=hwprofiles/hosts/epyc-vm.yaml
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

build/spillway calibrate --host --quick --base a40 -o "$scratch/here.yaml"
build/spillway validate --host "$scratch/here.yaml" smollm2-135m >"$scratch/table"
awk -v table="$scratch/table" '
    /^<!-- to here/ { inside = 0 }
    !inside { print }
    /^<!-- make host-example/ {
        inside = 1
        print "```text"
        while ((getline line <table) > 0) print line
        print "```"
    }
' docs/calibrate.md >"$scratch/calibrate.md"
cp "$scratch/calibrate.md" docs/calibrate.md
cp "$scratch/here.yaml" "$profile"
cat "$scratch/table"
echo "$profile and docs/calibrate.md are rewritten: read the diff"
