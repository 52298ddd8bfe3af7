#!/usr/bin/env python3
"""Prints runs of a server, and what a benchmark measured of it, as rows of a file of scenarios/measured.

    tools/measured_row.py DB BENCHMARK.json

DB has runs of `spillway simulate --set workload=... --db DB`; BENCHMARK.json is what vLLM's or SGLang's benchmark wrote.
A row names the run's model, machine, system, engine and workload, and all else that its scenario states and an untimed
run of these names does not. `what` is for its author to say, and which of these settings was chosen.
"""
import json
import os
import sqlite3
import subprocess
import sys
import tempfile

PROGRAM = os.environ.get("SPILLWAY") or os.path.join(os.path.dirname(__file__), "..", "build", "spillway")
NAMES = ["model", "hardware", "system", "engine", "workload"]
SERVED = {"ttft_ms": ("mean_ttft_ms", "ms"), "tpot_ms": ("mean_tpot_ms", "ms"),
          "decode_tokens_per_s": ("output_throughput", "")}


def runs(path, where):
    rows = sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute(
        f"SELECT model, hardware, scenario FROM runs WHERE {where} ORDER BY rowid")
    return [(model, hardware, json.loads(scenario)) for model, hardware, scenario in rows]


def beyond(stated, named):
    """What is stated otherwise than by the names alone."""
    left = {}
    for key, value in stated.items():
        if isinstance(value, dict) and isinstance(named.get(key), dict):
            value = beyond(value, named[key])
        if value != named.get(key) and value != {}:
            left[key] = value
    return left


def row(scenario):
    named = {key: scenario[key] for key in NAMES if key in scenario}
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "named.db")
        given = [word for key, value in {**named, "timed": "no"}.items()
                 for word in ("--set", f"{key}={json.dumps(value)}")]
        subprocess.run([PROGRAM, "simulate", *given, "--db", path], stdout=subprocess.DEVNULL, check=True)
        return {**named, **beyond({**scenario, "timed": "no"}, {**runs(path, "1")[0][2], "timed": "no"})}


def main():
    database, benchmark = sys.argv[1:]
    with open(benchmark, encoding="utf-8") as file:
        measured = json.load(file)
    served = ", ".join(f"{column}: {measured[key]:.6g}{unit}" for column, (key, unit) in SERVED.items() if measured.get(key))
    if not served:
        sys.exit(f"{benchmark}: no mean TTFT, TPOT or rate was measured")
    for model, hardware, scenario in runs(database, "status = 'ok' AND ttft_ms IS NOT NULL"):
        print(f"  - what: {model} on {hardware}\n    set: {json.dumps(row(scenario))}\n    served: {{{served}}}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main()
