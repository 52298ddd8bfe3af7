#!/bin/bash
# The page of KV pools of models whose layers differ is what the program computes.
set -u
cd "$(dirname "$0")/../.."
echo "1..1"
if diff <(scenarios/papers/kv-pools.sh) scenarios/papers/kv-pools.md | sed 's/^/# /' | grep .; then
    echo "not ok 1 - scenarios/papers/kv-pools.md is up to date (UPDATE=1 scenarios/papers/kv-pools.sh)"
    exit 1
fi
echo "ok 1 - scenarios/papers/kv-pools.md is up to date"
