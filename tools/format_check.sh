#!/bin/bash
# Name the places that clang-format would change, and fail if there is one.
#
# Other versions of clang-format break other lines, so that only the one of Debian 12 is asked. Where it is missing,
# nothing is checked, and a line says so.
set -eu
cd "$(dirname "$0")/.."
version=14

program=$(command -v clang-format-$version || command -v clang-format || true)
case ${program:+$("$program" --version)} in
*" version $version."*) ;;
*)
    echo "format-check: skipped: no clang-format $version here (Debian 12: apt-get install clang-format-$version)" >&2
    exit 0
    ;;
esac
find sim calibrate tests \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' \) -print0 |
    xargs -0 -n 64 -P "$(nproc)" "$program" --dry-run -Werror
