#!/usr/bin/env python3
"""How much longer decode attention takes where contexts are uneven, in the public tables of casys-kaist/LLMServingSim.

    git clone https://github.com/casys-kaist/LLMServingSim; git -C LLMServingSim checkout 5daddb2
    hwprofiles/import/uneven.py LLMServingSim

For maintainers; needs Python 3 and numpy. Each row of skew.csv has three times of one batch of decodes, without a
prompt: of its uneven contexts, and of as many sequences that all have the mean or the longest one (vLLM 0.19.0). With
the share A the first is predicted as

    mean + A * (longest - mean)

The share whose mean |error| over both GPUs is least is `uneven` of sim/predict/server/step_cost.c. Prints, by GPU and share,
the median, the 90th percentile and the mean of |error| in percent, as in hwprofiles/README.md.
"""
import glob
import os

import numpy as np

from fitting import Failure, arguments, join, read_csv, run

GPUS = {"RTX 4090": "RTX4090", "RTX PRO 6000 Server": "RTXPRO6000"}
SHARES = np.arange(0, 0.0801, 0.01)


def read(checkout, folder):
    root = os.path.join(checkout, "profiler/perf", folder)
    paths = sorted(glob.glob(os.path.join(root, "**", "skew.csv"), recursive=True))
    if not paths:
        raise Failure("%s: no skew.csv" % root)
    tables = []
    for path in paths:
        table = read_csv(checkout, os.path.relpath(path, checkout))
        table.time("t_skew_us", 1e6)
        table.keep(table["regime"] == "pure")
        tables.append(table)
    return join("", tables)


def errors(table, share):
    mean, longest = (table.numbers(name) / 1e6 for name in ("t_mean_us", "t_max_us"))
    return abs((mean + share * np.maximum(0, longest - mean)) / table["seconds"] - 1)


def main():
    checkout, _ = arguments([])
    tables = {gpu: read(checkout, folder) for gpu, folder in GPUS.items()}
    best = min(SHARES, key=lambda share: sum(errors(table, share).mean() for table in tables.values()))
    print("| | batches | share | median | 90 % | mean |\n|---|---|---|---|---|---|")
    for gpu, table in tables.items():
        for share in (0, best):
            error = 100 * errors(table, share)
            print("| %s | %d | %.0f %% | %.1f | %.1f | %.1f |" % (
                gpu, len(error), 100 * share, np.median(error), np.percentile(error, 90), error.mean()))


if __name__ == "__main__":
    run(main)
