"""Kernels of ai-dynamo/aiconfigurator beside attention over heads and dense products.

    latents     fixed + sequences * query heads * pair + max(bytes / (share * peak), FLOPs / (share * peak))
    experts     fixed + max(bytes of the experts visited / (share * peak), FLOPs / (share(rows of one) * peak))
                + bytes of activations / (share * peak)
    top-k       max(of one row, rows * each), both by the length of a row
    exchanges   all-reduces, all-gathers and all-to-alls: the times measured, by bytes and number of GPUs
    smallest    the time of a kernel that scales up to 8 rows, of TensorRT-LLM
    moves       the times of that kernel by the bytes that it reads and writes (moves.py)

Experts are measured as a whole layer, two grouped products: each has half of the fixed time. Tokens are
spread evenly over them, so that a layer reads min(experts, tokens * chosen) of them. Of several measurements the
first fits, and the range spans them all: frameworks differ more than kernels do.
"""
import collections

import numpy as np

import moves
from aiconfigurator_files import read_table, versions
from fitting import (bytes_text, figure_text, find_share, fit, flops_peak, microseconds, nanoseconds, percent,
                     points_text, report, rising, share_of, spread, stated, suffix, thin)

LATENT, ROPE = 512, 64   # values of a token's latents, DeepSeek-V2
FEW_HEADS = 32           # up to so many query heads latents are bound by their bytes
FEW_ROWS = 8             # up to so many rows of each, experts are bound by their bytes
THIN_TIMES = 0.1         # a point of a time is left out if the line between others is that near

# All-reduces: the files of NCCL and of a framework's own, in words what connects the GPUs, and the files of hosts of
# another kind, such as those through which cards reach each other without peer access: ranges span them.
Reduce = collections.namedtuple("Reduce", "files fabric others", defaults=[()])

KINDS = {"bf16": ("bfloat16",), "fp8": ("fp8", "fp8_block"), "int4": ("int4_wo",), "fp4": ("nvfp4",),
         "mxfp4": ("w4a16_mxfp4",), "mxfp4_fp8": ("w4a8_mxfp4_mxfp8",)}
# Bytes of a value: NVFP4 has a scale of a byte for 16 of them, MXFP4 for 32.
EACH = {"bf16": 2, "fp8": 1, "int4": 0.5, "fp4": 9 / 16, "mxfp4": 17 / 32, "mxfp4_fp8": 17 / 32}


# ---- latents ----

def read_latents(checkout, source, which, kind):
    table = read_table(checkout, "%s/mla/%s/generation_mla_perf.parquet" % (source.data, which))
    table.keep(np.isin(table["kv_cache_dtype"], KINDS[kind]))
    table.columns["pairs"] = table["batch_size"] * table["num_heads"].astype(float)
    table.columns["context"] = table["isl"] + table["step"]
    tokens = table["batch_size"] * table["context"].astype(float)
    table.columns["bytes"] = tokens * (LATENT + ROPE) * EACH[kind]
    table.columns["flops"] = 2 * tokens * table["num_heads"] * (2 * LATENT + ROPE)
    return table


def latents(name, checkout, source, which, kind):
    peak = stated(name, "hbm_bandwidth")
    table = read_latents(checkout, source, which, kind)
    table.drop_faster(table["bytes"], source.l2, peak)
    seconds, pairs, size = table["seconds"], table["pairs"], table["bytes"]
    flops = table["flops"] / flops_peak(name, kind)
    cold, few = size >= 2 * source.l2, table["num_heads"] <= FEW_HEADS
    these = cold & few
    fixed, pair, byte = fit([np.ones(these.sum()), pairs[these], size[these]], seconds[these],
                            (seconds.min(), 0, 0))
    many = cold & (table["num_heads"] == table["num_heads"].max())
    share = find_share(seconds[many], fixed + pair * pairs[many], byte * size[many], flops[many])
    ratio = (fixed + pair * pairs + np.maximum(byte * size, flops / share)) / seconds
    report(name, "latents " + kind, ratio, {"cold": cold, "many": many})
    said = table.source("latents of twice the L2 or more", cold.sum(), ratio[cold] - 1)
    return [
        figure_text("mla_fixed" + suffix(kind), microseconds(fixed), spread(1 / ratio[~cold]), said),
        figure_text("mla_share" + suffix(kind), percent(share_of(table, byte, peak)), spread(ratio[these]), said),
        figure_text("mla_pair" + suffix(kind), nanoseconds(pair), None, said),
        figure_text("mla_flops_share" + suffix(kind), percent(share), spread(ratio[many]), said),
    ]


# ---- experts ----

def read_experts(checkout, source, which, kind):
    table = read_table(checkout, "%s/moe/%s/moe_perf.parquet" % (source.data, which))
    table.keep(np.isin(table["moe_dtype"], KINDS[kind][-1:]) & (table["distribution"] == "balanced")
               & (table["moe_ep_size"] == 1))
    kernels = collections.Counter(table["kernel_source"].tolist())
    table.keep(table["kernel_source"] == kernels.most_common(1)[0][0])
    tokens, hidden, inner, chosen, experts = (table[key].astype(float) for key in (
        "num_tokens", "hidden_size", "inter_size", "topk", "num_experts"))
    inner, visits = inner / table["moe_tp_size"], tokens * chosen
    visited = np.minimum(experts, visits)
    table.columns["rows"] = visits / visited
    table.columns["weights"] = visited * 3 * hidden * inner * EACH[kind]
    table.columns["data"] = 2 * visits * (2 * hidden + 3 * inner)
    table.columns["bytes"] = table["weights"] + table["data"]
    table.columns["flops"] = 6 * visits * hidden * inner
    return table


def experts_seconds(table, fixed, byte, flops, shares):
    """Predicted times; `flops` are seconds at the peak."""
    busy = np.maximum(byte * table["weights"], flops / np.interp(table["rows"], *zip(*shares)))
    return fixed + busy + byte * table["data"]


def read_cold_experts(name, checkout, source, which, kind):
    """The rows of one measurement, and which of them are cold: of experts that the L2 does not hold."""
    table = read_experts(checkout, source, which, kind)
    table.drop_faster(table["weights"], source.l2, stated(name, "hbm_bandwidth"))
    return table, table["weights"] >= 2 * source.l2


def experts_band(name, checkout, source, which, kind, fit_to):
    """What the range of the shares spans: predicted over measured times of all measurements, as many quantiles of
    each, of many rows and of few."""
    found = {True: [], False: []}
    for version in versions(which):
        table, cold = read_cold_experts(name, checkout, source, version, kind)
        ratio = experts_seconds(table, *fit_to(table)) / table["seconds"]
        for many in found:
            these = cold & ((table["rows"] > FEW_ROWS) == many)
            found[many].append(np.quantile(ratio[these], np.linspace(0, 1, 1001)))
    return [np.concatenate(found[many]) for many in (True, False)]


def experts_shares(table, fixed, memory, flops, large):
    """Shares by the rows of an expert, a point for each power of two; below the first no bound shows. All points are
    fitted together, for the least sum of |ln(predicted / measured)|: where few rows are bound by memory, a fit of each
    point alone would take the share that memory lets them reach for a bound of the FLOPs."""
    rows, power = table["rows"], np.round(np.log2(table["rows"]))
    at = [1 << exponent for exponent in range(int(np.log2(FEW_ROWS)) + 1, int(power[large].max()) + 1)
          if (large & (power == exponent)).sum() >= 10]
    these = large & (rows > FEW_ROWS)
    shares = np.ones(len(at))

    def apart(tried):
        busy = np.maximum(memory[these], flops[these] / np.interp(rows[these], at, tried))
        return abs(np.log((fixed[these] + busy) / table["seconds"][these])).sum()

    step = 2.0
    while step > 1.005:
        moved = False
        for i in range(len(at)):
            for factor in (1 / step, step):
                tried = shares.copy()
                tried[i] = min(1, shares[i] * factor)
                if apart(tried) < apart(shares) * (1 - 1e-6):
                    shares, moved = tried, True
        step = step if moved else step ** 0.5
    points = list(zip(at, shares))
    for i in reversed(range(len(points) - 1)):
        if points[i][1] > 0.99:  # bound by memory alone
            points[i] = (at[i], points[i + 1][1])
    return [(1, points[0][1])] + rising(thin(points))


def experts(name, checkout, source, which, kind):
    peak = stated(name, "hbm_bandwidth")
    table, cold = read_cold_experts(name, checkout, source, versions(which)[0], kind)
    seconds, size, flops = table["seconds"], table["bytes"], table["flops"] / flops_peak(name, kind)
    few, many = cold & (table["rows"] <= FEW_ROWS), cold & (table["rows"] > FEW_ROWS)
    fixed, byte = fit([np.ones(few.sum()), size[few]], seconds[few], (seconds.min(), 0))
    shares = experts_shares(table, fixed + byte * table["data"], byte * table["weights"], flops, cold)
    ratio = experts_seconds(table, fixed, byte, flops, shares) / seconds
    band, band_few = experts_band(name, checkout, source, which, kind, lambda other: (
        fixed, byte, other["flops"] / flops_peak(name, kind), shares))
    report(name, "experts " + kind, ratio, {"few": few, "many": many})
    said = table.source("experts of twice the L2 or more, up to %d rows of each" % FEW_ROWS, few.sum(),
                        ratio[few] - 1)
    every = table.source("more than %d rows of each expert" % FEW_ROWS, many.sum(), ratio[many] - 1)
    return [
        figure_text("experts_fixed" + suffix(kind), microseconds(fixed / 2), spread(1 / ratio[~cold]), said),
        figure_text("experts_share" + suffix(kind), percent(share_of(table, byte, peak)), spread(band_few), said),
        figure_text("experts_flops_share" + suffix(kind), points_text(shares, percent), spread(band), every),
    ]


# ---- top-k in one kernel ----

def selection(name, checkout, source):
    path = "%s/sparse_attention/%s/glm5_topk_module_perf.parquet" % (source.data, source.topk)
    table = read_table(checkout, path)
    table.keep(table["score_mode"] == "flat")
    rows, length = table["batch_size"] * table["isl"].astype(float), table["isl"] + table["step"]
    power = np.round(np.log2(length))
    once, each = [], []
    for exponent in range(11, int(power.max()) + 1):
        these = abs(np.log2(length) - exponent) < 0.1
        one, full = these & (rows <= 32), these & (rows >= 1024)
        if one.any() and full.any():
            once.append((1 << exponent, np.median(table["seconds"][one])))
            each.append((1 << exponent, np.median(table["seconds"][full] / rows[full])))
    ratio = np.maximum(np.interp(length, *zip(*once)), rows * np.interp(length, *zip(*each))) / table["seconds"]
    judged = length >= 2048
    report(name, "top-k fp32", ratio, {"rows": judged})
    said = table.source("k = 2048, up to 32 rows for the time at once, 1024 or more for the time of each",
                        judged.sum(), ratio[judged] - 1)
    return [
        figure_text("topk_fused", points_text(thin(once, THIN_TIMES), microseconds), spread(ratio[judged]), said),
        figure_text("topk_fused_row", points_text(thin(each, THIN_TIMES), microseconds), spread(ratio[judged]), said),
    ]


# ---- all-reduces ----

def read_exchange(checkout, source, which, gpus, name="all_reduce"):
    """Bytes of the message and seconds of an exchange of 16-bit values, in a graph where there is a choice."""
    kind = "nccl" if which.startswith("nccl/") else "custom_allreduce"
    table = read_table(checkout, "%s/comm/%s/%s_perf.parquet" % (source.data, which, kind))
    table.keep((table["op_name"] == name) & (table["num_gpus"] == gpus))
    if kind == "nccl":
        table.keep(table["nccl_dtype"] == "half")
    elif "backend" in table.columns:
        table.keep(table["backend"] == "sglang_graph")
    table.keep(np.argsort(table["message_size"]))
    seconds = np.minimum.accumulate(table["seconds"][::-1])[::-1]  # small messages take no longer than large ones
    return table, 2.0 * table["message_size"], seconds  # message_size counts values


def sizes_of(checkout, source):
    """The numbers of GPUs that were measured, up to the 8 of a node."""
    table = read_table(checkout, "%s/comm/%s/nccl_perf.parquet" % (source.data, source.reduce.files[0]))
    return [gpus for gpus in (2, 4, 8) if (table["num_gpus"] == gpus).any()]


def reduces(name, checkout, source):
    """At each size the faster one, as servers choose; the range reaches to the slower one, or to another host."""
    counts, texts = sizes_of(checkout, source), []
    for gpus in counts:
        read = [read_exchange(checkout, source, which, gpus) for which in source.reduce.files]
        least = max(size[0] for _, size, _ in read)
        size = read[0][1][read[0][1] >= least]
        times = np.array([np.interp(size, other, seconds) for _, other, seconds in read])
        best = times.min(0)
        ratios = np.concatenate([(times / best).ravel()] + [
            apart_on(checkout, source, which, gpus, size, best) for which in source.reduce.others])
        points = thin(list(zip(size, best)), THIN_TIMES)
        text = ", ".join("[%s, %s]" % (bytes_text(at), microseconds(value)) for at, value in points)
        said = "%s: the faster at each size; %d GPUs, %s, 16-bit values" % (
            " and ".join([read[0][0].origin] + list(source.reduce.files[1:])), gpus, source.reduce.fabric)
        figure = "collective" if gpus == counts[-1] else "collective_%d" % gpus
        texts.append(figure_text(figure, "[[1B, %s], %s]" % (microseconds(points[0][1]), text),
                                 spread(ratios), said))
    return texts


def apart_on(checkout, source, which, gpus, size, best):
    """Times of another host over the best, once for each of two frameworks; none if it has not as many GPUs."""
    if gpus not in read_table(checkout, "%s/comm/%s/custom_allreduce_perf.parquet" % (source.data, which))["num_gpus"]:
        return np.array([])
    _, other, seconds = read_exchange(checkout, source, which, gpus)
    return np.repeat(np.interp(size, other, seconds) / best, 2)


def exchanges(name, checkout, source, operation, figure):
    """The exchanges that frameworks leave to NCCL. A reduce-scatter takes as long as an all-gather."""
    counts, texts = sizes_of(checkout, source), []
    for gpus in counts:
        table, size, seconds = read_exchange(checkout, source, source.reduce.files[0], gpus, operation)
        if not len(size):
            continue  # this table has none
        points = thin(list(zip(size, seconds)), THIN_TIMES)
        ratio = np.interp(size, *zip(*points)) / seconds
        text = ", ".join("[%s, %s]" % (bytes_text(at), microseconds(value)) for at, value in points)
        said = "%s: %d GPUs, %s, 16-bit values" % (table.origin, gpus, source.reduce.fabric)
        called = figure if gpus == counts[-1] else "%s_%d" % (figure, gpus)
        texts.append(figure_text(called, "[[1B, %s], %s]" % (microseconds(points[0][1]), text), spread(1 / ratio), said))
    return texts


# ---- the smallest kernel ----

def smallest(name, checkout, source):
    medians = []
    for which in source.small:
        table = read_table(checkout, "%s/quantize/%s/scale_matrix_perf.parquet" % (source.data, which))
        table.keep(table["m"] <= 8)
        medians.append((np.median(table["seconds"]), table))
    (value, table), other = medians[0], medians[-1][0]
    said = "%s: median of %d rows, a kernel that scales up to 8 rows of a matrix; range: %s" % (
        table.origin, len(table["seconds"]), source.small[-1])
    return [figure_text("graph_node", microseconds(value), spread(np.array([other / value, 1])), said)]


# ---- kernels that move activations ----

def moved(name, checkout, source):
    """A value is read in 16 bits and written in 8. Where no attention is fitted here, LLMServingSim has norms, too."""
    if source.attention is None:
        return []
    table = read_table(checkout, "%s/quantize/%s/scale_matrix_perf.parquet" % (source.data, source.small[0]))
    table.columns["bytes"] = 3.0 * table["m"] * table["k"]
    return moves.figure(name, table, "matrices scaled from 16 to 8 bits in a graph, times 1.4 in the L2",
                        source.l2)


def figures(name, checkout, source):
    texts = []
    for which, kind in ((source.mla, "bf16"), (source.mla_fp8, "fp8")):
        texts += latents(name, checkout, source, which, kind) if which else []
    for which, kind in ((source.experts, "bf16"), (source.experts_fp8, "fp8"), (source.experts_int4, "int4"),
                        (source.experts_fp4, "fp4"), (source.experts_mxfp4, "mxfp4"),
                        (source.experts_mxfp4, "mxfp4_fp8")):
        texts += experts(name, checkout, source, which, kind) if which else []
    texts += selection(name, checkout, source) if source.topk else []
    texts += reduces(name, checkout, source)
    texts += exchanges(name, checkout, source, "all_gather", "gather")
    texts += exchanges(name, checkout, source, "alltoall", "all_to_all")
    if not source.small:
        return texts
    return texts + smallest(name, checkout, source) + moved(name, checkout, source)
