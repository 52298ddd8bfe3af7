#!/bin/bash
# Complete the installation in the folder $1 for a GPU machine on which nothing can be installed: the test of the
# kernels, $2, the libraries that the machine may lack, and the script of its first hour.
set -eu
cd "$(dirname "$0")/.."
bundle=$1

install -t "$bundle/bin" "$2"
strip "$bundle"/bin/*
# Programs look for libraries in ../lib. The C library and its loader are the machine's own; the driver's libraries,
# cuBLAS and GDRCopy are loaded from there when they are needed.
libraries=$(ldd "$bundle"/bin/*)
if grep 'not found' <<<"$libraries" >&2; then exit 1; fi
mkdir -p "$bundle/lib"
awk '$3 ~ "^/" { print $3 }' <<<"$libraries" | sort -u | grep -vE '/lib(c|m|dl|rt|pthread|resolv)\.so' |
    xargs install -m 644 -t "$bundle/lib"
install tools/first_hour.sh "$bundle/first_hour"
git describe --always --dirty >"$bundle/commit" 2>/dev/null || echo 'no commit known' >"$bundle/commit"

needed=$(objdump -T "$bundle"/bin/* "$bundle"/lib/* | grep -o 'GLIBC_2[0-9.]*' | sort -uV | tail -1)
size=$(du -sh "$bundle" | cut -f1)
cuda=$("$NVCC" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')
echo "$bundle ($size): copy it to a GPU machine with glibc ${needed#GLIBC_} or later, a driver that runs CUDA $cuda" \
    "('nvidia-smi' says which it runs) and, for matrix products, cuBLAS. There, run bundle/first_hour OUT"
