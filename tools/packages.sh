#!/bin/bash
# Install the missing Debian packages that building, testing and plotting need, and list them. Silent if
# none is missing. NO_INSTALL=1 lists them and fails instead. Arguments replace the list of packages.
set -eu

needed=(
    gcc g++ libc6-dev
    libgsl-dev libsqlite3-dev libcsv-dev libyaml-dev libjansson-dev libzstd-dev libxxhash-dev
    liburing-dev  # calibrate reads drives
    libcmocka-dev # unit tests
    gnuplot-nox   # pictures
    sqlite3 jq    # tests read databases and JSON as users do
    python3-yaml  # published figures are read by the Python module
)
[ $# -eq 0 ] || needed=("$@")

if ! command -v dpkg-query >/dev/null; then
    echo "this is not Debian: make sure that you have the contents of these packages: ${needed[*]}" >&2
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
    echo "NO_INSTALL is set; install them with:" $install >&2
    exit 1
fi
if [ -n "$sudo" ] && ! command -v sudo >/dev/null; then
    echo "missing Debian packages: ${missing[*]}" >&2
    echo "this needs root or sudo; ask an administrator to run:" "${install#sudo }" >&2
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
