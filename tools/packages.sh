#!/bin/bash
# Install the Debian packages that building, testing and plotting need and that are missing,
# saying which. NO_INSTALL=1 refuses instead. Silent when all are there. With arguments: these
# packages instead.
set -eu

needed=(
    gcc g++ libc6-dev
    libgsl-dev libsqlite3-dev libcsv-dev libyaml-dev libjansson-dev libzstd-dev libxxhash-dev
    libcmocka-dev # unit tests
    gnuplot-nox   # pictures
    sqlite3       # tests read databases as users do
)
[ $# -eq 0 ] || needed=("$@")

if ! command -v dpkg-query >/dev/null; then
    echo "this is not Debian: make sure that you have what these packages hold: ${needed[*]}" >&2
    exit 0
fi

missing=()
for package in "${needed[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing+=("$package")
done
[ ${#missing[@]} -gt 0 ] || exit 0

sudo=
[ "$(id -u)" -eq 0 ] || sudo=sudo
install="$sudo apt-get install -y --no-install-recommends ${missing[*]}"

if [ "${NO_INSTALL:-0}" != 0 ]; then
    echo "missing Debian packages: ${missing[*]}" >&2
    echo "NO_INSTALL is set, so install them yourself:" $install >&2
    exit 1
fi
if [ -n "$sudo" ] && ! command -v sudo >/dev/null; then
    echo "missing Debian packages: ${missing[*]}" >&2
    echo "neither root nor sudo, so ask someone who is:" "${install#sudo }" >&2
    exit 1
fi

echo "installing Debian packages: ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! { $sudo apt-get update && $install; } >"$log" 2>&1; then
    cat "$log" >&2
    echo "the packages could not be installed: ${missing[*]}" >&2
    exit 1
fi
