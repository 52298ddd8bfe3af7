#!/bin/bash
# The measured example again, on this machine, which should be idle: its host into a profile that ships,
# and what validate then says here into docs/calibrate.md, between the two marks. Under five minutes.
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
