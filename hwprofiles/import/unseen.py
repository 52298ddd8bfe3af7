#!/usr/bin/env python3
"""How far profiles are from the rows of vLLM in ai-dynamo/aiconfigurator, which fit nothing.

    hwprofiles/import/unseen.py aiconfigurator

For maintainers, after a fit is committed; needs Python 3, numpy, pyarrow and build/spillway. Of each GPU the newest
vLLM that has a kernel is taken, and of several kernels that one file holds, the one with most rows. Attention,
prompts and products are asked of `spillway kernels`, a call each; experts and all-reduces are computed from the
profile's figures as aiconfigurator_others.py does. It rewrites the table of hwprofiles/README.md
between two comments: the median and the 90th percentile of |predicted / measured - 1| in percent, by type of values.
"""
import collections
import concurrent.futures
import glob
import json
import os
import re
import subprocess

import numpy as np

import aiconfigurator_others as others
import fitting
import prompts
from aiconfigurator import SOURCES, WEIGHTS
from aiconfigurator_files import BASE, read_table

PROGRAM = os.path.join(os.path.dirname(fitting.PROFILES), "build", "spillway")
MARKS = "<!-- hwprofiles/import/unseen.py -->\n", "<!-- end -->\n"
TYPES = {"bf16": "bf16", "fp8": "fp8", "fp4": "nvfp4"}  # as the program calls them
SHORT = 1024              # tokens of a prompt
FEW_ROWS = 128            # of a product
LEAST, MOST = 1 << 10, 16 << 20  # bytes of an all-reduce


def newest(checkout, data, kernels, file):
    """The path of a file of the newest vLLM that has it, below the data of all GPUs."""
    found = glob.glob(os.path.join(checkout, BASE, data, kernels, "vllm", "*", file))
    order = sorted(found, key=lambda path: [int(part) for part in re.findall(r"\d+", path.split(os.sep)[-2])])
    if not order:
        raise fitting.Failure(f"{os.path.join(checkout, BASE, data, kernels)}: no vllm/VERSION/{file}")
    return os.path.relpath(order[-1], os.path.join(checkout, BASE))


def errors(name, op, options, rows, fixed=()):
    """Predicted over measured time, less 1, of kernels: each row is the values of `options`, and microseconds."""
    def error(row):
        sizes = [text for option, value in zip(options, row) for text in (option, "%s" % value)]
        done = subprocess.run([PROGRAM, "kernels", name, "--op", op, "--json", *fixed, *sizes], text=True,
                              stdout=subprocess.PIPE, check=True)
        return json.loads(done.stdout)["us"] / row[-1] - 1
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return np.array(list(pool.map(error, rows)))


def heads(table):
    return ["%d/%d" % pair for pair in zip(table["num_heads"], table["num_key_value_heads"])]


def attention_of(checkout, data, file, kind):
    """Rows of heads of 128 values over all tokens, of the kernel that has most."""
    path = newest(checkout, data, "attention", file)
    table = read_table(checkout, path)
    windows = table.columns.get("window_size", np.zeros(len(table["seconds"])))
    table.keep((table["head_dim"] == 128) & (windows == 0) & (table["kv_cache_dtype"] == WEIGHTS[kind].name))
    kernels = collections.Counter(table["kernel_source"].tolist())
    table.keep(table["kernel_source"] == kernels.most_common(1)[0][0])
    return table


def attention(checkout, name, source, kind):
    """Of KV that is at least twice the L2, which a benchmark cannot keep there."""
    table = attention_of(checkout, source.data, "generation_attention_perf.parquet", kind)
    tokens = table["isl"] + table["step"]
    values = 2.0 * 128 * table["batch_size"] * tokens * table["num_key_value_heads"]
    cold = values * (1 if kind == "fp8" else 2) >= 2 * source.l2
    rows = zip(table["batch_size"][cold], tokens[cold], np.array(heads(table))[cold], 1e6 * table["seconds"][cold])
    return summary(errors(name, "attention", ["--batch", "--context", "--heads"],
                          rows, fixed=["--dim", "128", "--dtype", kind]))


def prompt(checkout, name, source, short):
    table = attention_of(checkout, source.data, "context_attention_perf.parquet", "bf16")
    rows = table["batch_size"].astype(float) * table["isl"]
    table.keep((table["num_heads"] >= 4) & (table["isl"] >= prompts.LEAST) & (rows <= prompts.MOST)
               & ((table["isl"] <= SHORT) == short))
    rows = zip(table["batch_size"], table["isl"], heads(table), table["isl"], 1e6 * table["seconds"])
    return summary(errors(name, "prompt", ["--batch", "--context", "--heads", "--m"], rows, fixed=["--dim", "128"]))


def products(checkout, name, source):
    """By type: errors of few rows and of many."""
    path, found = newest(checkout, source.data, "gemm", "gemm_perf.parquet"), {}
    for kind, called in TYPES.items():
        table = read_table(checkout, path)
        m = table["m"]
        rows = (table["gemm_dtype"] == WEIGHTS[kind].name) & ((m <= fitting.LEAST_ROWS) | (m % fitting.LEAST_ROWS == 0))
        rows &= table["n"].astype(float) * table["k"] >= fitting.LEAST_WEIGHTS
        if rows.any():
            table.keep(rows)
            error = errors(name, "product", ["--m", "--n", "--k"], zip(
                table["m"], table["n"], table["k"], 1e6 * table["seconds"]), fixed=["--dtype", called])
            few = table["m"] <= FEW_ROWS
            found[kind] = {"few": summary(error[few]), "many": summary(error[~few])}
    return found


def summary(error):
    return np.median(abs(error)), np.quantile(abs(error), 0.9)


def experts(checkout, name, source):
    """By type: errors of few rows of each and of many, where the L2 does not hold the experts."""
    text, found = fitting.profile_text(name), {}
    path = newest(checkout, source.data, "moe", "moe_perf.parquet")
    for kind in others.KINDS:
        figures = [fitting.points_of(text, which + fitting.suffix(kind)) for which in (
            "experts_fixed", "experts_share", "experts_flops_share")]
        try:
            table = others.read_experts(checkout, source, path.split("/moe/")[1].rpartition("/")[0], kind)
        except fitting.Failure:
            continue  # that vLLM has none of this type
        byte = 1 / (figures[1][0][1] * fitting.stated(name, "hbm_bandwidth")) if all(figures) else 0
        cold, few = table["weights"] >= 2 * source.l2, table["rows"] <= others.FEW_ROWS
        if byte and (cold & few).any() and (cold & ~few).any():
            flops = table["flops"] / fitting.flops_peak(name, kind)
            error = others.experts_seconds(table, 2 * figures[0][0][1], byte, flops, figures[2]) / table["seconds"] - 1
            found[kind] = {"few": summary(error[cold & few]), "many": summary(error[cold & ~few])}
    return found


def reduces(checkout, name, source):
    """Errors of all-reduces among 2, 4 and 8 GPUs."""
    path = newest(checkout, source.data, "comm", "custom_allreduce_perf.parquet")
    errors = []
    for gpus in others.sizes_of(checkout, source):
        table = read_table(checkout, path)
        rows = (table["op_name"] == "all_reduce") & (table["num_gpus"] == gpus)
        if "backend" in table.columns:
            rows &= np.array([backend.endswith("graph") for backend in table["backend"]])
        size, seconds = 2.0 * table["message_size"][rows], table["seconds"][rows]
        known = times_by_bytes(name, "collective" if gpus == others.sizes_of(checkout, source)[-1]
                               else "collective_%d" % gpus)
        errors.append((np.interp(size, *known) / seconds - 1)[(size >= LEAST) & (size <= MOST)])
    return summary(np.concatenate(errors))


def times_by_bytes(name, figure):
    text = re.search(r"^  %s:\n    points: (.*?)\n    basis" % figure, fitting.profile_text(name), re.M | re.S).group(1)
    sizes = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
    times = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
    return np.array([(float(size) * sizes[by], float(time) * times[unit]) for size, by, time, unit in re.findall(
        r"\[(\d+)([KMG]?i?B),\s+([\d.]+)([num]s)\]", text)]).T


# ---- the page ----

def cell(error):
    return "%.1f / %.0f" % (100 * error[0], 100 * error[1])


def by_type(found, label):
    return ", ".join("%s %s" % (kind, cell(errors[label])) for kind, errors in found.items())


def row(checkout, name, source):
    kinds = ["bf16"] + ["fp8"] * (source.attention_fp8 is not None)
    decode = ", ".join("%s %s" % (kind, cell(attention(checkout, name, source, kind))) for kind in kinds)
    dense, every = products(checkout, name, source), experts(checkout, name, source)
    cells = [name, decode, "; ".join(cell(prompt(checkout, name, source, short)) for short in (True, False)),
             by_type(dense, "few"), by_type(dense, "many"), by_type(every, "few"), by_type(every, "many"),
             cell(reduces(checkout, name, source))]
    return "| " + " | ".join(cells) + " |\n"


def main():
    checkout, names = fitting.arguments(SOURCES)
    head = ["", "attention", "prompts to %d tokens; more" % SHORT, "products, few rows", "products, many rows",
            "experts, few rows", "experts, many rows", "all-reduces"]
    table = "\n|" + "|".join(" %s " % one if one else " " for one in head) + "|\n" + "|---" * len(head) + "|\n"
    table += "".join(row(checkout, name, SOURCES[name]) for name in sorted(names))
    path = os.path.join(fitting.PROFILES, "README.md")
    with open(path, encoding="utf-8") as file:
        before, rest = file.read().split(MARKS[0])
    with open(path, "w", encoding="utf-8") as file:
        file.write(before + MARKS[0] + table + "\n" + MARKS[1] + rest.split(MARKS[1], 1)[1])


if __name__ == "__main__":
    fitting.run(main)
