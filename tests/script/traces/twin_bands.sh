#!/bin/bash
# The rule of traces/twin_bands.py against bands worked by hand.
cd "$(dirname "$0")/../../.." && exec python3 -B tests/script/traces/twin_bands.py
