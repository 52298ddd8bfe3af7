#!/bin/bash
# Pack what a GPU machine needs on which nothing can be installed or fetched into one file that runs, $1: the script of
# a quarter of an hour, and behind it the program $2, its harness for the GPU $3, the test of the kernels $4, and the
# libraries that the machine may lack. gzip, because every machine can unpack it.
set -eu
cd "$(dirname "$0")/.."
most=$((12 << 20)) # bytes, so that a copy of the repository and this are below 64 MiB
bundle=$(mktemp -d)
trap 'rm -rf "$bundle"' EXIT

install -D "$2" "$bundle/bin/spillway"
install "$3" "$bundle/bin/spillway-calibrate-cuda"
install "$4" "$bundle/bin/kernel-tests"
strip "$bundle"/bin/*
# Programs look for libraries in ../lib. The C library and its loader are the machine's own; the driver's libraries,
# cuBLAS and GDRCopy are loaded from there when they are needed.
libraries=$(ldd "$bundle"/bin/*)
if grep 'not found' <<<"$libraries" >&2; then exit 1; fi
mkdir -p "$bundle/lib"
awk '$3 ~ "^/" { print $3 }' <<<"$libraries" | sort -u | grep -vE '/lib(c|m|dl|rt|pthread|resolv)\.so' |
    xargs install -m 644 -t "$bundle/lib"
git describe --always --dirty >"$bundle/commit" 2>/dev/null || echo 'no commit known' >"$bundle/commit"

mkdir -p "$(dirname "$1")"
{ cat tools/quarter.sh; tar -c -C "$bundle" --owner=0 --group=0 . | gzip -9; } >"$1"
chmod +x "$1"
size=$(stat -c %s "$1")
[ "$size" -lt "$most" ] || { echo "$1 has $size bytes: at most $most" >&2; exit 1; }
needed=$(objdump -T "$bundle"/bin/* "$bundle"/lib/* | grep -o 'GLIBC_2[0-9.]*' | sort -uV | tail -1)
echo "$1 ($((size >> 10)) KiB): for a GPU machine with glibc ${needed#GLIBC_} or later, a driver that runs the CUDA of" \
    "$3, a copy of this repository and, for matrix products, cuBLAS. There, run $1 OUT measure"
