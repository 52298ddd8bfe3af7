#!/usr/bin/env python3
"""Carries the kernels' figures of measured GPUs over to GPUs that only a datasheet describes.

    hwprofiles/import/carried.py CHECKOUT

CHECKOUT is the one of aiconfigurator.py, which runs first. A GPU takes fixed times and shares from the
nearest measured GPU: the same kind of memory, then the same architecture, then the nearest bandwidth.
Its peaks are its own datasheet's. At few rows the share of a donor's FLOPs is only what its memory
lets it reach: on a GPU with fewer FLOPs a byte it is larger by as much, up to the donor's best.

How wrong that is, the measured GPUs say: each is predicted in the same way from the others, and the
times are held against its rows. The four Blackwells with 8 TB/s of HBM are one chip with one memory;
they are predicted from a Hopper, not from each other. The program prints these errors. Their 10th and
90th percentiles over all GPUs are the ranges of the figures that are carried over. It rewrites the
figures between two comments in the profiles and in README.md; run again, it writes the same bytes.
"""
import collections
import math
import os
import re
import sys

import numpy as np

import aiconfigurator as rows
import fitting

# Kind of memory and compute capability.
Chip = collections.namedtuple("Chip", "memory capability")
MEASURED = {
    "a100-sxm-80gb": Chip("HBM", "8.0"), "l40s": Chip("GDDR", "8.9"), "h100-sxm": Chip("HBM", "9.0"),
    "h200": Chip("HBM", "9.0"), "b200": Chip("HBM", "10.0"), "b300": Chip("HBM", "10.0"),
    "gb200": Chip("HBM", "10.0"), "gb300": Chip("HBM", "10.0"), "rtx-pro-6000-server": Chip("GDDR", "12.0"),
}
CARRIED = {
    "a100-pcie-40gb": Chip("HBM", "8.0"), "a10": Chip("GDDR", "8.6"), "rtx-3090": Chip("GDDR", "8.6"),
    "l4": Chip("GDDR", "8.9"), "h100-pcie": Chip("HBM", "9.0"), "h20": Chip("HBM", "9.0"),
    "gh200": Chip("HBM", "9.0"), "rtx-5090": Chip("GDDR", "12.0"),
}
NO_FP8 = ("8.0", "8.6")

# Figures and the classes of rows whose error is theirs.
CLASSES = {
    "attention": ("attention_fixed", "attention_share", "attention_pair"),
    "few": ("product_fixed", "product_share"),
    "many": ("flops_share",),
}
SUFFIX = {"bf16": "", "fp8": "_fp8", "int4": "_int4"}


def nearest(name, chip, donors):
    def apart(other):
        there = MEASURED[other]
        speeds = [fitting.stated(gpu, "hbm_bandwidth") for gpu in (name, other)]
        return (there.memory != chip.memory, abs(float(there.capability) - float(chip.capability)),
                abs(math.log(speeds[0] / speeds[1])))
    return min(donors, key=apart)


def figure(name, which):
    """The points of a figure of a profile, as (x, value) in base units, or None; a value has one."""
    found = re.search(r"^  %s:\n    (?:value|points): (.*?)\n    basis" % which, fitting.profile_text(name),
                      re.M | re.S)
    if found is None:
        return None
    text = found.group(1)
    units = {"us": 1e-6, "ns": 1e-9, "%": 1e-2}
    pairs = re.findall(r"\[(\d+),\s+([\d.]+)(us|ns|%)\]", text)
    if not pairs:
        pairs = [("1",) + re.match(r"([\d.]+)(us|ns|%)", text).groups()]
    return [(float(at), float(value) * units[unit]) for at, value, unit in pairs]


def value(name, which, suffix):
    return figure(name, which + suffix)[0][1]


def flops_peak(name, kind):
    return fitting.stated(name, "flops_fp8" if kind == "fp8" else "flops_bf16")


def carried_shares(name, donor, kind):
    """Shares of the FLOPs by rows of a GPU, from the donor's."""
    points = figure(donor, "flops_share" + SUFFIX[kind])
    ridges = [flops_peak(gpu, kind) / fitting.stated(gpu, "hbm_bandwidth") for gpu in (donor, name)]
    most = max(share for _, share in points)
    return fitting.thin([(at, min(most, share * max(1, ridges[0] / ridges[1]))) for at, share in points])


def attention_ratio(name, donor, checkout, kind):
    """Predicted over measured times of rows with cold KV."""
    peak, suffix, source = fitting.stated(name, "hbm_bandwidth"), SUFFIX[kind], rows.SOURCES[name]
    table = rows.read_attention(checkout, source, peak)
    table.keep(table["kv_cache_dtype"] == {"bf16": "bfloat16", "fp8": "fp8"}[kind])
    table.keep(table["bytes"] >= 2 * source.l2)
    fixed, pair, share = (value(donor, "attention_" + which, suffix) for which in ("fixed", "pair", "share"))
    predicted = fixed + pair * table["pairs"] + table["bytes"] / (share * peak)
    return predicted / table["seconds"]


def product_ratio(name, donor, checkout, kind):
    """Predicted over measured times of large products, and their rows."""
    peak, suffix, source = fitting.stated(name, "hbm_bandwidth"), SUFFIX[kind], rows.SOURCES[name]
    table = rows.read_products(checkout, source, getattr(source, kind), kind, peak)
    table.keep(table["n"].astype(float) * table["k"] >= fitting.LEAST_WEIGHTS)
    share = np.interp(table["m"], *zip(*carried_shares(name, donor, kind)))
    memory = table["bytes"] / (value(donor, "product_share", suffix) * peak)
    flops = table["flops"] / (share * flops_peak(name, kind))
    predicted = value(donor, "product_fixed", suffix) + np.maximum(memory, flops)
    return predicted / table["seconds"], table["m"]


def errors(checkout):
    """Predicted over measured times by class and type of values, of every measured GPU from its nearest."""
    found = collections.defaultdict(list)
    for name, chip in MEASURED.items():
        others = [other for other in MEASURED if other != name]
        if chip.capability == "10.0":
            others = [other for other in others if MEASURED[other].capability != "10.0"]
        for kind, suffix in SUFFIX.items():
            donors = [other for other in others if figure(other, "product_share" + suffix)]
            if figure(name, "product_share" + suffix) is None:
                continue
            donor = nearest(name, chip, donors)
            ratio, count = product_ratio(name, donor, checkout, kind)
            parts = {"few": ratio[count <= 128], "many": ratio[count > 128]}
            if figure(name, "attention_share" + suffix):
                parts["attention"] = attention_ratio(name, donor, checkout, kind)
            for part in sorted(parts):
                found[part, kind].append(parts[part])
                say(name, "from " + donor, part, kind, parts[part])
    return {key: np.concatenate(ratios) for key, ratios in found.items()}


def say(name, donor, part, kind, ratio):
    low, high = np.quantile(ratio - 1, (0.1, 0.9))
    print("%-20s %-26s %-10s %-5s median |error| %5.1f %%  p10 %+6.1f %%  p90 %+6.1f %%" % (
        name, donor, part, kind, 100 * np.median(abs(ratio - 1)), 100 * low, 100 * high))


def carried(name, chip, ratios):
    for kind, suffix in SUFFIX.items():
        if kind == "fp8" and chip.capability in NO_FP8:
            continue
        donors = [other for other in MEASURED if figure(other, "product_share" + suffix)]
        donor = nearest(name, chip, donors)
        for part, figures in CLASSES.items():
            if (part, kind) not in ratios:
                continue
            ratio = ratios[part, kind]
            said = "carried over from the profile %s; range: errors of measured GPUs predicted so" % donor
            for which in figures:
                band = fitting.spread(1 / ratio if which.endswith(("fixed", "pair")) else ratio)
                text = carried_text(name, donor, which, kind)
                yield fitting.figure_text(which + suffix, text, band, said, "assumed")


def carried_text(name, donor, which, kind):
    if which == "flops_share":
        return fitting.shares_text(carried_shares(name, donor, kind))
    amount = value(donor, which, SUFFIX[kind])
    if which.endswith("share"):
        return fitting.percent(amount)
    return fitting.nanoseconds(amount) if which.endswith("pair") else fitting.microseconds(amount)


MARKS = "<!-- hwprofiles/import/carried.py -->\n", "<!-- end -->\n"


def write_table(ratios):
    """Rewrite the errors between two marks in the page."""
    path = os.path.join(fitting.PROFILES, "README.md")
    with open(path, encoding="utf-8") as file:
        head, rest = file.read().split(MARKS[0])
    table = "\n| kernels | values | median error, either way | range |\n|---|---|---|---|\n"
    names = {"attention": "attention", "few": "products, few rows", "many": "products, many rows"}
    for (part, kind), ratio in sorted(ratios.items()):
        low, high = 100 * np.quantile(ratio - 1, (0.1, 0.9))
        median = 100 * np.median(abs(ratio - 1))
        table += "| %s | %s | %.0f %% | %+.0f to %+.0f %% |\n" % (names[part], kind, median, low, high)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + MARKS[0] + table + "\n" + MARKS[1] + rest.split(MARKS[1])[1])


def main():
    if len(sys.argv) != 2:
        fitting.usage("one checkout is expected: CHECKOUT")
    ratios = errors(sys.argv[1])
    for (part, kind), ratio in ratios.items():
        say("all", "", part, kind, ratio)
    for name, chip in CARRIED.items():
        fitting.write_block(name, list(carried(name, chip, ratios)), "carried.py")
    write_table(ratios)
    fitting.write_table()


if __name__ == "__main__":
    fitting.run(main)
