#!/usr/bin/env python3
"""Fits the kernels' figures of GPU profiles to the public measurements of ai-dynamo/aiconfigurator.

    git clone https://github.com/ai-dynamo/aiconfigurator; git -C aiconfigurator checkout 095f58a
    hwprofiles/import/aiconfigurator.py aiconfigurator [PROFILE...]

For maintainers; needs Python 3, numpy and pyarrow. It rewrites the figures between two comments in
hwprofiles/gpus/PROFILE.yaml, for all profiles of the table below or for those that are named, and
prints how well they fit. For all profiles, it also writes the table of hwprofiles/README.md. Run again, it writes the same bytes. Only fitted figures enter the
repository, no rows (Apache-2.0).

The data are times of single kernels in a replayed CUDA graph, without a flush of the L2: attention
reads one KV buffer again and again, products walk through up to six copies of their weights. Figures
of memory are therefore fitted to rows whose data exceed the L2: KV of at least twice its size,
weights of which six copies do. Rows of vLLM fit nothing; they are kept to judge.

    attention   fixed + pairs * pair + bytes / (share * peak)
    products    fixed + max(bytes / (share * peak), FLOPs / (flops_share(rows) * FLOPs peak))
    collective  the times of an all-reduce among the GPUs of a node

The sum of |predicted / measured - 1| is least. No fixed time is below the shortest time measured, and
that of products is not above the median time of warm products with weights of 1 to 8 MiB.

A row is dropped if its time is 0, or if it would read data of four times the L2 or more at over 105 % of
the peak. Of several attention kernels that one file holds, the one with most rows is the one that servers
run by default: the others are left out.

Which rows: the newest SGLang that ran on the GPU itself (by the column `device`, the folder b300_sxm
holds a copy of the GB300's rows of SGLang 0.5.14), except that
- the A100 has TensorRT-LLM 1.0.0 beside it, the attention of which is impossible by the rule above (302 rows);
- SGLang 0.5.12 on the L40S holds impossible attention;
- fp8 products of the RTX PRO 6000 Server come from TensorRT-LLM: SGLang's miss one line by 21 % (median);
- weights of 4 bits were measured with TensorRT-LLM alone.
"""
import collections
import os
import re
import sys
import textwrap

import numpy as np
import pyarrow.parquet as parquet

COMMIT = "095f58a"
BASE = "aic-core/src/aiconfigurator_core/systems/data"
PROFILES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
GPUS = os.path.join(PROFILES, "gpus")
FROM = "  # hwprofiles/import/%s writes from here\n"
TO = "  # to here\n"

# All-reduces: the files, the number of GPUs, and in words what connects them. The times are those of the
# first file; the others make the range.
Reduce = collections.namedtuple("Reduce", "files gpus fabric")

# The folder of the data, the size of the L2 in bytes, and the measurements of attention, of products
# with weights of bf16, fp8 and 4 bits (None: there are none), and of all-reduces.
Source = collections.namedtuple("Source", "data l2 attention bf16 fp8 int4 collective")
NEW, OLD = "sglang/0.5.14", "sglang/0.5.10"


def nccl(version, framework, gpus):
    """NCCL among the GPUs of a node with NVLink; SGLang's own all-reduce in a graph makes the range."""
    return Reduce(("nccl/" + version, framework), gpus, "NVLink")


SOURCES = {
    "h100-sxm": Source("h100_sxm", 50e6, NEW, NEW, NEW, None, None),
    "h200": Source("h200_sxm", 60e6, NEW, NEW, NEW, "trtllm/1.2.0rc5", None),
    "a100-sxm-80gb": Source("a100_sxm", 40e6, OLD, OLD, None, "trtllm/1.0.0", nccl("2.27.3", OLD, 8)),
    "l40s": Source("l40s", 96e6, NEW, NEW, NEW, "trtllm/1.0.0",
                   Reduce(("sglang/0.5.12", "nccl/2.27.3", NEW), 4, "PCIe 4")),
    "rtx-pro-6000-server": Source("rtx_pro_6000_server", 128e6, NEW, NEW, "trtllm/1.3.0rc20", None,
                                  Reduce(("nccl/2.29.2", NEW), 4, "PCIe 5")),
    "b200": Source("b200_sxm", 126e6, NEW, NEW, NEW, None, nccl("2.29.2", NEW, 8)),
    "b300": Source("b300_sxm", 126e6, OLD, OLD, OLD, None, nccl("2.29.2", NEW, 8)),
    "gb200": Source("gb200", 126e6, NEW, NEW, NEW, None, nccl("2.29.2", NEW, 4)),
    "gb300": Source("gb300", 126e6, NEW, NEW, NEW, None, nccl("2.29.2", NEW, 4)),
}

LEAST_ROWS = 64           # below, a product shows no bound by its FLOPs
THIN = 0.04               # a point is left out if the line between others is that near
THIN_REDUCE = 0.1         # the same of all-reduces
LEAST_WEIGHTS = 16 << 20  # n * k of the products whose share of the FLOPs counts
FEW = 32                  # rows up to which a product is bound by its bytes


# ---- profiles ----

def profile_text(name):
    with open(os.path.join(GPUS, name + ".yaml"), encoding="utf-8") as file:
        return file.read()


def stated(name, figure):
    """The value of a figure of a profile, or of the one that it extends, in base units."""
    text = profile_text(name)
    found = re.search(r"^  %s:\s*{?value: ([\d.]+)([GT])" % figure, text, re.M)
    if found:
        return float(found.group(1)) * {"G": 1e9, "T": 1e12}[found.group(2)]
    return stated(re.search(r"^  extends: (\S+)", text, re.M).group(1), figure)


def percent(value):
    return "%.3g%%" % (100 * value)


def spread(ratio):
    """The range of a figure that is `ratio` times as large on single rows."""
    low, high = np.quantile(ratio, (0.1, 0.9))
    return "[%s, %s]" % (percent(min(1, low)), percent(max(1, high)))


def wrapped(key, text):
    lines = textwrap.wrap(key + ": " + text, 110, break_long_words=False, break_on_hyphens=False)
    return "".join("    " + ("  " if i > 0 else "") + line + "\n" for i, line in enumerate(lines))


def figure_text(name, value, band, source, basis="published"):
    """A figure as a profile states it; `band` is its range, or None for what is not known alone."""
    text = "  %s:\n" % name + wrapped("points" if value.startswith("[[") else "value", value)
    text += "    basis: %s\n" % basis + ("    range: %s\n" % band if band else "")
    return text + wrapped("source", '"%s"' % source)


def write_block(name, figures, script):
    text, start = profile_text(name), FROM % script
    if start in text:
        text = text[:text.index(start)] + text[text.index(TO) + len(TO):]
    with open(os.path.join(GPUS, name + ".yaml"), "w", encoding="utf-8") as file:
        file.write(text + start + "".join(figures) + TO)


# ---- rows ----

class Table:
    """Columns of a file as arrays, without the rows that cannot be."""

    def __init__(self, checkout, path):
        self.path = path
        table = parquet.read_table(os.path.join(checkout, BASE, self.path))
        self.columns = {name: np.array(table.column(name).to_pylist()) for name in table.schema.names}
        self.columns["seconds"] = self.columns.pop("latency").astype(float) / 1e3
        self.dropped = 0
        self.drop(self["seconds"] <= 0)

    def __getitem__(self, name):
        return self.columns[name]

    def keep(self, rows):
        self.columns = {name: column[rows] for name, column in self.columns.items()}

    def drop(self, rows):
        self.dropped += int(rows.sum())
        self.keep(~rows)

    def source(self, what, rows, error):
        return "ai-dynamo/aiconfigurator %s, %s: %d rows, %s; median |error| %.1f %%; dropped: %d" % (
            COMMIT, self.path, rows, what, 100 * np.median(abs(error)), self.dropped)


def read_attention(checkout, source, peak):
    path = "%s/attention/%s/generation_attention_perf.parquet" % (source.data, source.attention)
    table = Table(checkout, path)
    windows = table.columns.get("window_size", np.zeros(len(table["seconds"])))
    table.keep((table["head_dim"] == 128) & (windows == 0))
    kernels = collections.Counter(table["kernel_source"].tolist())
    table.keep(table["kernel_source"] == kernels.most_common(1)[0][0])
    wide = np.where(table["kv_cache_dtype"] == "fp8", 1, 2)
    table.columns["pairs"] = table["batch_size"] * table["num_key_value_heads"].astype(float)
    table.columns["bytes"] = 2 * table["pairs"] * (table["isl"] + table["step"]) * 128 * wide
    table.drop((table["bytes"] >= 4 * source.l2) & (table["bytes"] / table["seconds"] > 1.05 * peak))
    return table


# Names of the type of weights in the data, bytes of a weight and of a value of the activations.
Weights = collections.namedtuple("Weights", "name each value")
WEIGHTS = {
    "bf16": Weights("bfloat16", 2, 2),
    "fp8": Weights("fp8", 1, 1),
    "int4": Weights("int4_wo", 0.5, 2),
}


def read_products(checkout, source, which, kind, peak):
    table = Table(checkout, "%s/gemm/%s/gemm_perf.parquet" % (source.data, which))
    weights = WEIGHTS[kind]
    table.keep(table["gemm_dtype"] == weights.name)
    m, n, k = (table[name].astype(float) for name in "mnk")
    table.columns["weights"] = n * k * weights.each
    table.columns["bytes"] = table["weights"] + m * k * weights.value + m * n * 2
    table.columns["flops"] = 2 * m * n * k
    table.drop((table["weights"] >= 4 * source.l2) & (table["weights"] / table["seconds"] > 1.05 * peak))
    return table


# ---- fits ----

def fit(columns, seconds, least, most=np.inf):
    """Factors of the columns, none below its `least` or above its `most`, of least relative errors."""
    columns, least = np.stack(columns, 1) / seconds[:, None], np.array(least)
    held = np.zeros(len(least), bool)
    factors = least.copy()
    for _ in least:
        rest = 1 - columns[:, held] @ factors[held]
        weight = np.ones(len(seconds))
        for _ in range(300):
            free = np.linalg.lstsq(columns[:, ~held] * weight[:, None], rest * weight, rcond=None)[0]
            apart = abs(columns[:, ~held] @ free - rest)
            weight = 1 / np.sqrt(np.maximum(apart, 1e-4))
        factors[~held] = free
        beyond = (factors < least) | (factors > most)
        if not beyond.any():
            break
        held |= beyond
        factors = np.clip(factors, least, most)
    return factors


def microseconds(seconds):
    return "%.3gms" % (1e3 * seconds) if seconds >= 1e-3 else "%.3gus" % (1e6 * seconds)


def nanoseconds(seconds):
    return "%.3gns" % (1e9 * seconds)


def shares_text(points):
    return "[" + ", ".join("[%d, %s]" % (rows, percent(share)) for rows, share in points) + "]"


def attention_figures(name, checkout, source):
    peak = stated(name, "hbm_bandwidth")
    everything = read_attention(checkout, source, peak)
    for kind, suffix in (("bfloat16", ""), ("fp8", "_fp8")):
        rows = everything["kv_cache_dtype"] == kind
        if not rows.any():
            continue
        seconds, pairs, size = (everything[key][rows] for key in ("seconds", "pairs", "bytes"))
        cold = size >= 2 * source.l2
        columns = [np.ones(cold.sum()), pairs[cold], size[cold]]
        fixed, pair, byte = fit(columns, seconds[cold], (seconds.min(), 0, 0))
        ratio = (fixed + pair * pairs + byte * size) / seconds
        share = 1 / (byte * peak)
        said = everything.source("head size 128, KV of twice the L2 or more", cold.sum(), ratio[cold] - 1)
        report(name, "attention " + kind, ratio, {"cold": cold, "warm": ~cold & (size > 1 << 20)})
        few = ~cold & (size > 1 << 20)
        yield figure_text("attention_fixed" + suffix, microseconds(fixed), spread(1 / ratio[few]), said)
        yield figure_text("attention_share" + suffix, percent(share), spread(ratio[cold]), said)
        yield figure_text("attention_pair" + suffix, nanoseconds(pair), None, said)


def find_share(seconds, fixed, memory, flops):
    """The share of the FLOPs' peak at which half of the rows are predicted too long."""
    low, high = 1e-3, 1.0
    for _ in range(60):
        middle = (low * high) ** 0.5
        if np.median((fixed + np.maximum(memory, flops / middle)) / seconds) > 1:
            low = middle
        else:
            high = middle
    return low


def thin(points, near=THIN):
    """The points without those that lie near the line between the ones that stay."""
    if len(points) < 3:
        return points
    rows, shares = zip(*points)
    line = np.interp(rows, (rows[0], rows[-1]), (shares[0], shares[-1]))
    apart = abs(line / shares - 1)
    worst = int(apart.argmax())
    if apart[worst] <= near:
        return [points[0], points[-1]]
    return thin(points[:worst + 1], near)[:-1] + thin(points[worst:], near)


def shares_by_rows(table, fixed, memory, flops, large):
    """Shares by rows. Below the first no bound shows, so it holds there, too."""
    points = []
    for rows in np.unique(table["m"][table["m"] >= LEAST_ROWS]):
        these = large & (table["m"] == rows)
        points.append((int(rows), find_share(table["seconds"][these], fixed, memory[these], flops[these])))
    for i in reversed(range(len(points) - 1)):
        if points[i][1] > 0.99:  # bound by memory alone: no bound is seen here either
            points[i] = (points[i][0], points[i + 1][1])
    return [(1, points[0][1])] + thin(points)


def product_figures(name, checkout, source, kind):
    peak = stated(name, "hbm_bandwidth")
    flops_peak = stated(name, "flops_fp8" if kind == "fp8" else "flops_bf16")
    table = read_products(checkout, source, getattr(source, kind), kind, peak)
    seconds, size, flops = table["seconds"], table["bytes"], table["flops"] / flops_peak
    cold = (6 * table["weights"] >= 2 * source.l2) & (table["m"] <= FEW)
    small = (table["m"] <= FEW) & (table["weights"] >= 1 << 20) & (table["weights"] < 8 << 20)
    fixed, byte = fit([np.ones(cold.sum()), size[cold]], seconds[cold], (seconds.min(), 0),
                      (np.median(seconds[small]), np.inf))
    memory = byte * size
    large = table["n"].astype(float) * table["k"] >= LEAST_WEIGHTS
    shares = shares_by_rows(table, fixed, memory, flops, large)
    share = np.interp(table["m"], *zip(*shares))
    ratio = (fixed + np.maximum(memory, flops / share)) / seconds
    few, many = large & (table["m"] <= 128), large & (table["m"] > 128)
    report(name, "products " + kind, ratio, {"few": few, "many": many, "small": small})
    suffix = "" if kind == "bf16" else "_" + kind
    said = table.source("weights of which six copies are twice the L2, up to %d rows" % FEW, cold.sum(),
                        ratio[cold] - 1)
    yield figure_text("product_fixed" + suffix, microseconds(fixed), spread(1 / ratio[small]), said)
    yield figure_text("product_share" + suffix, percent(1 / (byte * peak)), spread(ratio[few]), said)
    said = table.source("n * k of 16 Mi or more, over 128 rows", many.sum(), ratio[many] - 1)
    yield figure_text("flops_share" + suffix, shares_text(shares), spread(ratio[many]), said)


# ---- all-reduces ----

def read_reduces(checkout, source, which):
    """Bytes of the message and seconds of an all-reduce of 16-bit values in a graph, in order."""
    kind = "nccl" if which.startswith("nccl/") else "custom_allreduce"
    table = Table(checkout, "%s/comm/%s/%s_perf.parquet" % (source.data, which, kind))
    table.keep((table["op_name"] == "all_reduce") & (table["num_gpus"] == source.collective.gpus))
    if kind == "nccl":
        table.keep(table["nccl_dtype"] == "half")
    elif "backend" in table.columns:
        table.keep(table["backend"] == "sglang_graph")
    table.keep(np.argsort(table["message_size"]))
    return table, 2.0 * table["message_size"], table["seconds"]  # message_size counts values


def collective_figures(checkout, source):
    files, gpus, fabric = source.collective
    table, size, seconds = read_reduces(checkout, source, files[0])
    seconds = np.minimum.accumulate(seconds[::-1])[::-1]  # a small message takes no longer than a large one
    ratio = [np.ones(1)]
    for which in files[1:]:
        _, other_size, other = read_reduces(checkout, source, which)
        ratio.append(np.interp(size, other_size, other) / seconds)
    points = thin(list(zip(size, seconds)), THIN_REDUCE)
    text = ", ".join("[%s, %s]" % (bytes_text(at), microseconds(value)) for at, value in points)
    said = "ai-dynamo/aiconfigurator %s, %s: %d GPUs, %s, 16-bit values; range: %s" % (
        COMMIT, table.path, gpus, fabric, ", ".join(files[1:]))
    yield figure_text("collective", "[[1B, %s], %s]" % (microseconds(points[0][1]), text),
                      spread(np.concatenate(ratio)), said)


def bytes_text(count):
    for unit, each in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= each:
            return "%.0f%s" % (count / each, unit)
    return "%.0fB" % count


# ---- what a profile rests on ----

ERRORS = {}  # median and 90th percentile of |error| by (profile, kernel, type, class of rows)


def report(name, what, ratio, classes):
    for label, rows in classes.items():
        error = ratio[rows] - 1
        median, p90 = 100 * np.median(abs(error)), 100 * np.quantile(abs(error), 0.9)
        ERRORS[(name, *what.split(), label)] = median, p90
        print("%-20s %-20s %-5s %6d rows  median %+6.1f %%  |median| %5.1f %%  p90 %5.1f %%" % (
            name, what, label, rows.sum(), 100 * np.median(error), median, p90))


TABLE = "<!-- below: hwprofiles/import/aiconfigurator.py -->\n"


def errors_text(name, kernel, label):
    said = ["%s %.1f / %.0f" % (kind.replace("bfloat16", "bf16"), *ERRORS[name, kernel, kind, label])
            for kind in ("bf16", "bfloat16", "fp8", "int4") if (name, kernel, kind, label) in ERRORS]
    return ", ".join(said)


def table_row(name, unseen):
    """A profile, what its kernels rest on, and their errors on the rows that fitted them."""
    text = profile_text(name)
    donors = sorted(set(re.findall(r"carried over from the\s+profile\s+(\S+);", text)))
    basis = "published" if name in SOURCES else "assumed"
    kernels = "carried over from " + ", ".join(donors) if donors else "rows" if name in SOURCES else "shares alone"
    cells = [name, basis, kernels, errors_text(name, "attention", "cold"), errors_text(name, "products", "few"),
             errors_text(name, "products", "many"), unseen]
    return "|" + "|".join(" %s " % cell if cell else " " for cell in cells) + "|\n"


def write_table():
    """Rewrite the table below its mark in the page; its last column is somebody else's and stays."""
    path = os.path.join(PROFILES, "README.md")
    with open(path, encoding="utf-8") as file:
        page, below = file.read().split(TABLE)
    unseen = dict(re.findall(r"^\| (\S+) \|.*\|([^|\n]*)\|$", below, re.M))
    names = sorted(file[:-5] for file in os.listdir(GPUS) if file != "nvidia.yaml")
    table = "| profile | kernels | from | attention | products, few rows | many rows | unseen rows |\n"
    table += "|---|---|---|---|---|---|---|\n"
    table += "".join(table_row(name, unseen.get(name, "").strip()) for name in names)
    with open(path, "w", encoding="utf-8") as file:
        file.write(page + TABLE + "\n" + table)


def main():
    if len(sys.argv) < 2 or any(name not in SOURCES for name in sys.argv[2:]):
        sys.exit("usage: %s CHECKOUT [%s]..." % (sys.argv[0], "|".join(SOURCES)))
    for name in sys.argv[2:] or SOURCES:
        source = SOURCES[name]
        figures = list(attention_figures(name, sys.argv[1], source))
        for kind in WEIGHTS:
            if getattr(source, kind):
                figures += product_figures(name, sys.argv[1], source, kind)
        if source.collective:
            figures += collective_figures(sys.argv[1], source)
        write_block(name, figures, "aiconfigurator.py")
    if len(sys.argv) == 2:
        write_table()


if __name__ == "__main__":
    main()
