#!/bin/bash
# Put Debian's libraries for aarch64, which the programs of the wheel are linked with, into the folder $1. This machine's
# own packages are left alone: apt keeps its lists there, too.
set -eu
mkdir -p "$1/apt/lists/partial" "$1/apt/archives/partial"
cd "$1"
[ ! -e usr/include/gsl/gsl_rng.h ] || exit 0
options=(-qq -o Dir::State::lists="$PWD/apt/lists" -o Dir::State::status=/dev/null -o Dir::Cache::archives="$PWD/apt/archives"
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Architecture=arm64 -o APT::Architectures::=arm64
    -o APT::Sandbox::User=root)
apt-get "${options[@]}" update
cd apt/archives
apt-get "${options[@]}" download libgsl-dev libsqlite3-dev libcsv-dev libyaml-dev libjansson-dev libzstd-dev libxxhash-dev \
    liburing-dev
cd ../..
for package in apt/archives/*.deb; do dpkg -x "$package" .; done
