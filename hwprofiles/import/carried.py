#!/usr/bin/env python3
"""Carries the kernels' figures of measured GPUs over to GPUs that only a datasheet describes.

    hwprofiles/import/carried.py AICONFIGURATOR LLMSERVINGSIM VIDUR

The checkouts are those of aiconfigurator.py, llmservingsim.py and vidur.py, which run first. A GPU takes
the figures that they did not fit to its own rows from the nearest measured GPU: the same kind of memory,
then the same architecture, then the nearest bandwidth.
- GDDR6 that keeps its ECC among the data is a kind of its own. Such GPUs report a sixteenth less memory
  than they have, and read a tenth to a fifth slower (the L40S beside the RTX 4090, the A40 beside the RTX
  A6000).
- GeForce multiplies at half the rate when it sums in fp32, and comes nearer to that peak: shares of the
  FLOPs come from a GPU that does the same.
- A GPU with rows of bf16 takes fp8 from the nearest architecture in proportion to its own bf16: its figure
  of bf16 times the donor's figure over the donor's figure of bf16. This predicts fp8 better (see the errors
  in README.md).
- Products with weights of integers of 4 bits are those of one expert (marlin.py), and as uncertain as experts are.
Peaks are the GPU's own datasheet's. At few rows the share of a donor's FLOPs is only what its memory lets
it reach: on a GPU with fewer FLOPs a byte it is larger by as much, up to the donor's best.

How wrong that is, the measured GPUs say: each is predicted in the same way from the others, and the
times are held against its rows. The four Blackwells with 8 TB/s of HBM are one chip with one memory;
they are predicted from a Hopper, not from each other. The program prints these errors. Their 10th and
90th percentiles over all GPUs, each of which counts the same, are the ranges of the figures that are
carried over. It rewrites the figures between two comments in the profiles and in README.md; run again, it
writes the same bytes.
"""
import collections
import math
import os
import sys

import numpy as np

import aiconfigurator
import carried_others
import carried_prompts
import fitting
import llmservingsim
import vidur

# Kind of memory, compute capability, and whether fp32 sums halve the rate of the tensor cores.
Chip = collections.namedtuple("Chip", "memory capability half")
MEASURED = {
    "a100-sxm-80gb": Chip("HBM", "8.0", False), "a40": Chip("GDDR with ECC", "8.6", False),
    "rtx-3090": Chip("GDDR", "8.6", True), "rtx-a6000": Chip("GDDR", "8.6", False),
    "rtx-4090": Chip("GDDR", "8.9", True), "l40s": Chip("GDDR with ECC", "8.9", False),
    "h100-sxm": Chip("HBM", "9.0", False), "h200": Chip("HBM", "9.0", False),
    "b200": Chip("HBM", "10.0", False), "b300": Chip("HBM", "10.0", False), "gb200": Chip("HBM", "10.0", False),
    "gb300": Chip("HBM", "10.0", False), "rtx-pro-6000-server": Chip("GDDR", "12.0", False),
}
CARRIED = {
    "a100-pcie-40gb": Chip("HBM", "8.0", False), "a10": Chip("GDDR with ECC", "8.6", False),
    "l4": Chip("GDDR with ECC", "8.9", False), "h100-pcie": Chip("HBM", "9.0", False),
    "h20": Chip("HBM", "9.0", False), "gh200": Chip("HBM", "9.0", False),
    "rtx-5090": Chip("GDDR", "12.0", True), "rtx-pro-6000": Chip("GDDR", "12.0", False),
    **MEASURED,  # whose rows leave some kernels out
}
NO_FP8 = ("8.0", "8.6")
FP4 = ("10.0", "12.0")

# Figures and the classes of rows whose error is theirs.
CLASSES = {
    "attention": ("attention_fixed", "attention_share", "attention_pair"),
    "few": ("product_fixed", "product_share"),
    "many": ("flops_share",),
}
KINDS = "bf16", "fp8", "int4", "fp4"

# A class of rows, the type of values, and whether figures are in proportion to the GPU's own of bf16.
Case = collections.namedtuple("Case", "part kind own")


def nearest(name, chip, case, donors):
    """The donor that is nearest in a case."""
    def apart(other):
        there = MEASURED[other]
        memory, architecture = there.memory != chip.memory, abs(float(there.capability) - float(chip.capability))
        speeds = [fitting.stated(gpu, "hbm_bandwidth") for gpu in (name, other)]
        return ((there.memory == "HBM") != (chip.memory == "HBM"), case.part == "many" and there.half != chip.half,
                *((architecture, memory) if case.own else (memory, architecture)),
                abs(math.log(speeds[0] / speeds[1])))
    return min(donors, key=apart)


def figure(name, which):
    """The points of a figure that was fitted to rows of a GPU, as (x, value) in base units, or None; a value
    has one."""
    return fitting.points_of([fitting.fitted_text(name)], which)


def value(name, donor, which, case):
    """A figure of one value of a GPU, from the donor's."""
    (_, taken), = figure(donor, which + fitting.suffix(case.kind))
    if case.own:
        (_, mine), (_, theirs) = figure(name, which)[0], figure(donor, which)[0]
        taken *= mine / theirs if theirs else 1
    return min(taken, 1) if which.endswith("share") else taken


def carried_shares(name, donor, case):
    """Shares of the FLOPs by rows of a GPU, from the donor's. Weights of 4 bits are multiplied in bf16: from as many
    rows on as the GPU has FLOPs a byte, theirs are in proportion to its own bf16."""
    shares = donor_shares(name, donor, case)
    if case.kind != "int4":
        return shares
    dense = Case("many", "bf16", False)
    mine = figure(name, "flops_share") or donor_shares(name, donor_of(name, CARRIED[name], dense), dense)
    ridge = fitting.flops_peak(name, "bf16") / fitting.stated(name, "hbm_bandwidth")
    at = sorted({rows for rows, _ in shares} | {rows for rows, _ in mine if rows >= ridge})
    few, own, theirs, four = (np.interp(at, *zip(*points)) for points in (
        shares, mine, figure(donor, "flops_share"), figure(donor, "flops_share_int4")))
    many = own * np.minimum(1, four / theirs)
    return fitting.rising(fitting.thin(list(zip(at, np.where(np.array(at) >= ridge, many, few)))))


def donor_shares(name, donor, case):
    """The same without regard to the GPU's own products in bf16."""
    points = figure(donor, "flops_share" + fitting.suffix(case.kind))
    if case.own:
        at, shares = np.array(points).T
        mine, theirs = (np.interp(at, *zip(*figure(gpu, "flops_share"))) for gpu in (name, donor))
        return fitting.rising(fitting.thin(list(zip(at, np.minimum(1, shares * mine / theirs)))))
    ridges = [fitting.flops_peak(gpu, case.kind) / fitting.stated(gpu, "hbm_bandwidth") for gpu in (donor, name)]
    most = max(share for _, share in points)
    return fitting.rising(fitting.thin([(at, min(most, share * max(1, ridges[0] / ridges[1]))) for at, share in points]))


class Checkouts:
    """The rows of every measured GPU, from the checkout that has them."""

    def __init__(self, *folders):
        self.aiconfigurator, self.llmservingsim, self.vidur = folders

    def attention(self, name, kind):
        """Rows with cold KV."""
        peak = fitting.stated(name, "hbm_bandwidth")
        if kind == "bf16" and name in llmservingsim.PROMPTS:
            l2 = llmservingsim.PROMPTS[name]
            table = llmservingsim.pro_attention(self.llmservingsim, name, l2)
            table.keep(table["bytes"] >= 2 * l2)
            return table
        if name in aiconfigurator.SOURCES:
            source = aiconfigurator.SOURCES[name]
            table = aiconfigurator.read_attention(self.aiconfigurator, source, kind, peak)
        else:
            source = llmservingsim.SOURCES[name]
            table = llmservingsim.read_attention(self.llmservingsim, source, peak)
        table.keep(table["bytes"] >= 2 * source.l2)
        return table

    def products(self, name, kind):
        """Rows of large products."""
        if name in aiconfigurator.SOURCES:
            source, peak = aiconfigurator.SOURCES[name], fitting.stated(name, "hbm_bandwidth")
            table = aiconfigurator.read_products(self.aiconfigurator, source, kind, peak)
        elif name in llmservingsim.SOURCES:
            table = llmservingsim.read_products(self.llmservingsim, llmservingsim.SOURCES[name])
        else:
            table = vidur.read_products(self.vidur, vidur.SOURCES[name])
        table.keep(table["n"].astype(float) * table["k"] >= fitting.LEAST_WEIGHTS)
        return table


def attention_times(name, donor, table, case):
    fixed, share, pair = (value(name, donor, which, case) for which in CLASSES["attention"])
    return fixed + pair * table["pairs"] + fitting.moved(table) / (share * fitting.stated(name, "hbm_bandwidth"))


def product_times(name, donors, table, case):
    """Times of products by the donors of the figures for few and for many rows."""
    fixed, share = (value(name, donors[0], which, case) for which in CLASSES["few"])
    shares = np.interp(table["m"], *zip(*carried_shares(name, donors[1], case)))
    memory = table["bytes"] / (share * fitting.stated(name, "hbm_bandwidth"))
    return fixed + np.maximum(memory, table["flops"] / (shares * fitting.flops_peak(name, case.kind)))


def apart_from(name):
    """The measured GPUs that may predict a GPU: of one chip with one memory none predicts another."""
    same = name in MEASURED and MEASURED[name].capability == "10.0"
    return [other for other in MEASURED if other != name and not (same and MEASURED[other].capability == "10.0")]


def donor_of(name, chip, case):
    """The measured GPU whose figures a GPU takes in a case."""
    which = CLASSES[case.part][-1]
    typed = which + fitting.suffix(case.kind)
    return nearest(name, chip, case, [other for other in apart_from(name) if figure(other, typed)
                                      and (not case.own or figure(other, which))])


def few_donor(name, kind, among):
    """The nearest of these GPUs, as for products of few rows."""
    chip = CARRIED[name] if name in CARRIED else MEASURED[name]
    return nearest(name, chip, Case("few", kind, False), among)


def many_donor(name, among):
    """The nearest of these GPUs, as for products of many rows."""
    return nearest(name, CARRIED[name], Case("many", "bf16", False), among)


def ratios_of(name, chip, kind, own, checkouts):
    """Of one GPU, from its nearest: each case, the nearest, and predicted over measured times."""
    if figure(name, "product_share" + fitting.suffix(kind)):
        table, cases = checkouts.products(name, kind), [Case(part, kind, own) for part in ("few", "many")]
        donors = [donor_of(name, chip, case) for case in cases]
        ratio, few = product_times(name, donors, table, cases[0]) / table["seconds"], table["m"] <= 128
        yield cases[0], donors[0], ratio[few]
        yield cases[1], donors[1], ratio[~few]
    if figure(name, "attention_share" + fitting.suffix(kind)):
        table, case = checkouts.attention(name, kind), Case("attention", kind, own)
        donor = donor_of(name, chip, case)
        yield case, donor, attention_times(name, donor, table, case) / table["seconds"]


def errors(checkouts):
    """Predicted over measured times by case, of every measured GPU from its nearest."""
    found = collections.defaultdict(list)
    for name, chip in MEASURED.items():
        for kind, own in (("bf16", False), ("fp8", False), ("fp8", True), ("fp4", False)):
            for case, donor, ratio in ratios_of(name, chip, kind, own, checkouts):
                found[case].append(np.quantile(ratio, np.linspace(0, 1, 1001)))
                say(name, "from " + donor, case, ratio)
    return {case: np.concatenate(ratios) for case, ratios in found.items()}


def said_of(case):
    return case.kind + " beside bf16" * case.own


def say(name, donor, case, ratio):
    low, high = np.quantile(ratio - 1, (0.1, 0.9))
    print("%-20s %-26s %-10s %-16s median |error| %5.1f %%  p10 %+6.1f %%  p90 %+6.1f %%" % (
        name, donor, case.part, said_of(case), 100 * np.median(abs(ratio - 1)), 100 * low, 100 * high))


def kinds_of(chip):
    """The types that its tensor cores multiply, and integers of 4 bits."""
    without = {"fp8": chip.capability in NO_FP8, "fp4": chip.capability not in FP4}
    return [kind for kind in KINDS if not without.get(kind)]


def carried(name, chip, ratios):
    """The figures that nobody fitted to rows of this GPU, as texts."""
    for kind in kinds_of(chip):
        for part, figures in CLASSES.items():
            case = Case(part, kind, kind == "fp8" and figure(name, figures[-1]) is not None)
            if case not in ratios:
                continue
            if figure(name, figures[-1] + fitting.suffix(kind)):
                continue
            donor = donor_of(name, chip, case)
            ratio = ratios[case]
            said = "carried over from the profile %s; %srange: errors of measured GPUs predicted so" % (
                donor, "in proportion to bf16; " * case.own)
            for which in figures:
                band = fitting.spread(1 / ratio if which.endswith(("fixed", "pair")) else ratio)
                text = carried_text(name, donor, which, case)
                yield fitting.figure_text(which + fitting.suffix(kind), text, band, said, "assumed")


def carried_text(name, donor, which, case):
    if which == "flops_share":
        return fitting.points_text(carried_shares(name, donor, case), fitting.percent)
    return fitting.amount_text(which, value(name, donor, which, case))


MARKS = "<!-- hwprofiles/import/carried.py -->\n", "<!-- end -->\n"


def write_table(errors):
    """Rewrite the errors, by name of the kernels and type of values, between two marks in the page."""
    path = os.path.join(fitting.PROFILES, "README.md")
    with open(path, encoding="utf-8") as file:
        head, rest = file.read().split(MARKS[0])
    table = "\n| kernels | values | median error, either way | range |\n|---|---|---|---|\n"
    for name, kind, ratio in errors:
        low, high = 100 * np.quantile(ratio - 1, (0.1, 0.9))
        median = 100 * np.median(abs(ratio - 1))
        table += "| %s | %s | %.0f %% | %+.0f to %+.0f %% |\n" % (name, kind, median, low, high)
    with open(path, "w", encoding="utf-8") as file:
        file.write(head + MARKS[0] + table + "\n" + MARKS[1] + rest.split(MARKS[1])[1])


def main():
    if len(sys.argv) != 4:
        fitting.usage("three checkouts are expected: AICONFIGURATOR LLMSERVINGSIM VIDUR")
    ratios = errors(Checkouts(*sys.argv[1:]))
    for case, ratio in ratios.items():
        say("all", "", case, ratio)
    carrier = carried_others.Carrier(sys.argv[1], aiconfigurator.SOURCES, few_donor, figure, apart_from)
    rest = carrier.every_error()
    four_bits = {Case(part, "int4", False): rest["experts", "int4"] for part in ("few", "many")}
    bands = carrier.bands(rest)
    prompt = carried_prompts.Prompts(sys.argv[1:3], many_donor, figure, apart_from)
    apart = prompt.errors(MEASURED)
    for name, chip in CARRIED.items():
        texts = list(carried(name, chip, {**ratios, **four_bits})) + carrier.texts(name, bands, kinds_of(chip))
        texts += prompt.texts(name, chip.capability, MEASURED, apart)
        fitting.write_block(name, texts, "carried.py")
    names = {"attention": "attention", "few": "products, few rows", "many": "products, many rows",
             "mla": "attention over latents", "experts": "products of experts"}
    write_table([(names[case.part], said_of(case), ratio) for case, ratio in sorted(ratios.items())]
                + [(names[part], kind, ratio) for (part, kind), ratio in rest.items()]
                + [("attention of prompts", "bf16", apart)])
    fitting.write_table()


if __name__ == "__main__":
    fitting.run(main)
