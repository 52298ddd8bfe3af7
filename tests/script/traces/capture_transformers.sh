#!/bin/bash
# capture_transformers.py against attention computed from the weights of tiny random models.
set -u
cd "$(dirname "$0")/../../.."
python=${PYTHON:-python3}
if ! "$python" -c 'import numpy, torch, transformers' 2>/dev/null; then
    echo "1..0 # SKIP $python or its packages 'numpy', 'torch', 'transformers' are missing"
    exit 0
fi
exec "$python" -B tests/script/traces/capture_transformers.py
