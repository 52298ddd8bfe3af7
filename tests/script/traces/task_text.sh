#!/bin/bash
# Texts that ask about something far back: what stands where, and where the question ends.
set -u
cd "$(dirname "$0")/../../.."
exec python3 -B tests/script/traces/task_text.py
