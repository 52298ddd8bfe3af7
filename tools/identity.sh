#!/bin/bash
# The program's identity: a hash of what computes, and the commit.
#
#   tools/identity.sh sources    a hash of all sources that decide a result: all below sim/ but those that show results
#                                (cli) and keep them (store)
#   tools/identity.sh commit     the commit of this tree, "-dirty" behind it if files differ; empty outside git
set -eu
cd "$(dirname "$0")/.."

sources() {
    find sim -type f \( -name '*.[ch]' -o -name '*.def' \) -not -path 'sim/cli/*' -not -path 'sim/store/*' -not -path sim/main.c |
        LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-16
}

commit() {
    # The tree may lie, unpacked, inside somebody else's repository.
    [ "$(git rev-parse --show-prefix 2>/dev/null || echo none)" = '' ] || return 0
    git describe --always --dirty --abbrev=12 --exclude '*' 2>/dev/null || true # no commit yet
}

"$1"
