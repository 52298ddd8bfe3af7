#!/bin/bash
# The pages of options and of versions are what the rows of engines say.
set -u
cd "$(dirname "$0")/../.."
echo "1..1"
if ! said=$(tools/engine_pages.py --check); then
    echo "# $said"
    echo "not ok 1 - docs/options.md and docs/versions.md are up to date (tools/engine_pages.py)"
    exit 1
fi
echo "ok 1 - docs/options.md and docs/versions.md are up to date"
