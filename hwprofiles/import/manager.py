#!/usr/bin/env python3
"""Reads what a server's manager on the CPU costs off one published row.

    hwprofiles/import/manager.py          (four minutes; from the root, after `make`)

scenarios/papers/a40-retroinfer.yaml states RetroInfer's cache time that nothing hides at six
contexts on an A40, and which parts of a result it is: look-up, transfer, update and merge, as the
paper's section 2.3.1 names them. Two figures explain it: the time to wake a thread (host.pool_wake), and the
time to look up and to update a cluster (host.lookup, host.update). Where contexts are short, the
pool has few clusters to handle and waking its threads is the cost; where they are long, the
clusters are. Look-up and update are known only by their common scale: their ratio, 2 to 3, is that
of RetroInfer's code on one core (0.070 and 0.105 us, cold).

The figures are the pair with the smallest sum of squared log errors on a grid. The interval of a
figure is that of the pairs that the six rows do not refuse: their sum of squares is at most
1 + 2/4 F(2, 4; 95 %) = 4.47 times the smallest. Nothing else is varied, so that errors of other
figures, such as the number of threads or a launch, are in them.
"""
import json
import math
import re
import subprocess
import sys
import tempfile

TABLE = "scenarios/papers/a40-retroinfer.yaml"
LOOKUP_NS, UPDATE_NS = 70, 105  # on one core, cold: scale 1
WAKES_US = [0.4 * 1.08**i for i in range(18)]
SCALES = [1.0 * 1.1**i for i in range(22)]
REFUSED = 4.47

SCENARIO = """model: llama-3-8b
hardware: {extends: a40, host: {lookup: %gns, update: %gns}}
system: retroinfer-10pct
trace: llama-3-8b-like
batch: 1
steps: 16
sweep:
  context: %s
  hardware.host.pool_wake: [%s]
"""
WAITS = ("lookup", "update", "handoff", "sync", "link")


def table():
    """Contexts, and published shares of the step."""
    text = open(TABLE, encoding="utf-8").read()
    contexts = re.search(r"context: (\[[^]]*\])", text).group(1)
    published = re.search(r"published: \[([^]]*)\]", text).group(1)
    return contexts, [float(share.strip(" %")) / 100 for share in published.split(",")]


def shares(scale, contexts):
    """{wake: [share of the step at each context]}"""
    wakes = ", ".join("%.4gns" % (1e3 * wake) for wake in WAKES_US)
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        file.write(SCENARIO % (LOOKUP_NS * scale, UPDATE_NS * scale, contexts, wakes))
        file.flush()
        run = subprocess.run(["build/spillway", "simulate", file.name, "--json"],
                             capture_output=True, text=True, check=True)
    rows = [json.loads(line) for line in run.stdout.splitlines()]
    found = [(sum(row["stalls_us"][part] for part in WAITS) + row["parts_us"]["merge"]) / row["step_us"]
             for row in rows]
    count = len(WAKES_US)  # the last axis of a sweep is the fastest
    return {wake: found[i::count] for i, wake in enumerate(WAKES_US)}


def over_kernels(share):
    return share / (1 - share)


def main():
    contexts, published = table()
    sums = {}
    for scale in SCALES:
        for wake, found in shares(scale, contexts).items():
            errors = [over_kernels(f) / over_kernels(p) - 1 for f, p in zip(found, published)]
            sums[wake, scale] = (sum(math.log1p(error) ** 2 for error in errors), errors)
        print("scale %.2f done" % scale, file=sys.stderr)
    best = min(sums, key=lambda pair: sums[pair][0])
    kept = [pair for pair in sums if sums[pair][0] <= REFUSED * sums[best][0]]
    for name, at, unit in (("host.pool_wake", 0, 1e3), ("host.lookup", 1, LOOKUP_NS),
                           ("host.update", 1, UPDATE_NS)):
        values = [pair[at] for pair in kept]
        print("%s: %.0f ns, range [%.0f%%, %.0f%%]" % (name, best[at] * unit,
              100 * min(values) / best[at], 100 * max(values) / best[at]))
    print("scale of look-up and update: %.2f" % best[1])
    print("errors of cache time over kernel time: "
          + " ".join("%+.0f%%" % (100 * error) for error in sums[best][1]))


if __name__ == "__main__":
    main()
