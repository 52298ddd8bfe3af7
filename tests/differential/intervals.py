#!/usr/bin/env python3
"""Intervals of a server in steady state cover as often as they say, and `requests` moves no capacity.

    intervals.py [--seeds 20] [--jobs 2] [PROGRAM]

1. Ten workloads are each run with so many seeds. The 95 % intervals of TTFT p99 and of the requests answered
   a second should hold the mean over the seeds; at least 90 % of them must. The interval of TTFT p99 is at most
   10 % of it to each side, or a note tells how wide it is.
2. 'advise' and 'plan' find the same rate when `requests` is doubled.

Prints TAP."""
import argparse
import concurrent.futures
import json
import statistics
import subprocess
import sys

SERVER = ["model=llama-3.1-8b", "hardware=h100-sxm", "system=vllm"]
WORKLOADS = [("prompt=800,output=100", "rate=10"), ("prompt=800,output=100", "rate=20"),
             ("prompt=800,output=100", "clients=40"), ("prompt=4000,output=50", "rate=4"),
             ("prompt=200,output=300", "rate=15"), ("prompt=2000,output=100,prompt_spread=100%", "rate=6"),
             ("prompt=1000,output=100,prefix=600,prefixes=4", "rate=15"),
             ("prompt=500,output=100,turns=4,think=5s", "rate=8"),
             ("prompt=500,output=100,turns=8,think=1s", "clients=60"),
             ("lengths=sharegpt", "rate=10")]
LEAST, NARROW = 0.9, 0.1


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True).stdout


def simulate(program, workload, load, seed):
    words = [word for key in (*SERVER, load, f"seed={seed}", f"workload=synthetic:{workload}")
             for word in ("--set", key)]
    return json.loads(run(program, "simulate", *words, "--json").splitlines()[0])


def count_covered(runs, figure, half):
    """Intervals that hold the mean over the runs, and how many there are."""
    mean = statistics.mean(one[figure] for one in runs)
    known = [one for one in runs if one[half] is not None]
    return sum(abs(one[figure] - mean) <= one[half] for one in known), len(known)


def is_narrow(one):
    told = any(note["note"] == "not_known" for note in one["notes"])
    return told or one["ttft_p99_half_ms"] <= NARROW * one["ttft_p99_ms"] * 1.001


def rate_found(program, command, requests):
    workload = f"synthetic:prompt=800,output=100,requests={requests}"
    if command == "advise":
        out = run(program, "advise", "llama-3.1-8b", "h100-sxm", "--workload", workload, "--json")
        return [row["rate"] for row in map(json.loads, out.splitlines()) if row.get("advised")]
    words = [word for key in (*SERVER, f"workload={workload}") for word in ("--set", key)]
    out = run(program, "plan", *words, "--maximise", "rate", "--target", "ttft_p99_ms<=500", "--json")
    return [row["value"] for row in map(json.loads, out.splitlines()) if row.get("winner")]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--seeds", type=int, default=20)
    arguments.add_argument("--jobs", type=int, default=2)
    arguments.add_argument("program", nargs="?", default="build/spillway")
    asked = arguments.parse_args()
    covered = {"ttft_p99_ms": [0, 0], "requests_out_per_s": [0, 0]}
    wide = 0
    halves = {"ttft_p99_ms": "ttft_p99_half_ms", "requests_out_per_s": "requests_out_half"}
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for workload, load in WORKLOADS:
            runs = list(pool.map(lambda seed, of=(workload, load): simulate(asked.program, *of, seed),
                                 range(1, asked.seeds + 1)))
            wide += sum(not is_narrow(one) for one in runs)
            for figure, total in covered.items():
                inside, known = count_covered(runs, figure, halves[figure])
                total[0] += inside
                total[1] += known
                print(f"# {workload} {load}: {inside} of {known} intervals of {figure} hold its mean", flush=True)
    print(f"1..{len(covered) + 3}")
    failed = wide > 0
    print(f"{'not ok' if wide else 'ok'} 1 - {wide} intervals of TTFT p99 are too wide, and no note tells")
    for number, (figure, (inside, known)) in enumerate(covered.items(), 2):
        good = known > 0 and inside >= LEAST * known
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {inside} of {known} intervals of {figure} cover")
    for number, command in enumerate(("advise", "plan"), len(covered) + 2):
        rates = [rate_found(asked.program, command, requests) for requests in (500, 1000)]
        good = rates[0] == rates[1] != []
        failed += not good
        print(f"{'ok' if good else 'not ok'} {number} - {command} finds {rates[0]} and {rates[1]}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
