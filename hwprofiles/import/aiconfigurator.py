#!/usr/bin/env python3
"""Fits the kernels' figures of GPU profiles to the public measurements of ai-dynamo/aiconfigurator.

    git clone https://github.com/ai-dynamo/aiconfigurator; git -C aiconfigurator checkout 095f58a
    hwprofiles/import/aiconfigurator.py aiconfigurator [PROFILE...]

For maintainers; needs Python 3, numpy and pyarrow. It rewrites the figures between two comments in
hwprofiles/gpus/PROFILE.yaml, for all profiles of the table below or for those that are named, and
prints how well they fit; their lines in the table of hwprofiles/README.md say it, too. Run again, it
writes the same bytes. Only fitted figures enter the repository, no rows (Apache-2.0).

The data are times of single kernels in a replayed CUDA graph, without a flush of the L2: attention
reads one KV buffer again and again, products walk through up to six copies of their weights. Figures
of memory are therefore fitted to rows whose data exceed the L2: KV of at least twice its size,
weights of which six copies do. Rows of vLLM fit nothing; they are kept to judge.

fitting.py has the forms of the curves and how they are fitted; those of all-reduces are the times measured
among the GPUs of a node.

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

import numpy as np
import pyarrow.parquet as parquet

from fitting import (FEW, Failure, Table, arguments, attention_figures, bytes_text, figure_text, microseconds,
                     product_figures, run, spread, stated, thin, write_block, write_table)

COMMIT = "095f58a"
BASE = "aic-core/src/aiconfigurator_core/systems/data"

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

THIN_REDUCE = 0.1  # a point of an all-reduce is left out if the line between others is that near


# ---- rows ----

def read_table(checkout, path):
    whole = os.path.join(checkout, BASE, path)
    if not os.path.isfile(whole):
        raise Failure("%s: no such file" % whole)
    try:
        table = parquet.read_table(whole)
    except (OSError, ValueError):
        raise Failure("%s: not a Parquet file" % whole) from None
    columns = {name: np.array(table.column(name).to_pylist()) for name in table.schema.names}
    rows = Table("ai-dynamo/aiconfigurator %s, %s" % (COMMIT, path), columns)
    rows.time("latency", 1e3)
    return rows


def read_attention(checkout, source, peak):
    path = "%s/attention/%s/generation_attention_perf.parquet" % (source.data, source.attention)
    table = read_table(checkout, path)
    windows = table.columns.get("window_size", np.zeros(len(table["seconds"])))
    table.keep((table["head_dim"] == 128) & (windows == 0))
    kernels = collections.Counter(table["kernel_source"].tolist())
    table.keep(table["kernel_source"] == kernels.most_common(1)[0][0])
    wide = np.where(table["kv_cache_dtype"] == "fp8", 1, 2)
    table.columns["pairs"] = table["batch_size"] * table["num_key_value_heads"].astype(float)
    table.columns["bytes"] = 2 * table["pairs"] * (table["isl"] + table["step"]) * 128 * wide
    table.drop_faster(table["bytes"], source.l2, peak)
    return table


# Names of the type of weights in the data, bytes of a weight and of a value of the activations.
Weights = collections.namedtuple("Weights", "name each value")
WEIGHTS = {
    "bf16": Weights("bfloat16", 2, 2),
    "fp8": Weights("fp8", 1, 1),
    "int4": Weights("int4_wo", 0.5, 2),
}


def read_products(checkout, source, which, kind, peak):
    table = read_table(checkout, "%s/gemm/%s/gemm_perf.parquet" % (source.data, which))
    weights = WEIGHTS[kind]
    table.keep(table["gemm_dtype"] == weights.name)
    m, n, k = (table[name].astype(float) for name in "mnk")
    table.columns["weights"] = n * k * weights.each
    table.columns["bytes"] = table["weights"] + m * k * weights.value + m * n * 2
    table.columns["flops"] = 2 * m * n * k
    table.drop_faster(table["weights"], source.l2, peak)
    return table


def attention(name, checkout, source):
    peak, figures = stated(name, "hbm_bandwidth"), []
    for kind in ("bf16", "fp8"):
        table = read_attention(checkout, source, peak)
        rows = table["kv_cache_dtype"] == WEIGHTS[kind].name
        if rows.any():
            table.keep(rows)
            figures += attention_figures(name, kind, table, source.l2)
    return figures


def products(name, checkout, source, kind):
    table = read_products(checkout, source, getattr(source, kind), kind, stated(name, "hbm_bandwidth"))
    cold = (6 * table["weights"] >= 2 * source.l2) & (table["m"] <= FEW)
    where = "weights of which six copies are twice the L2, up to %d rows" % FEW
    return product_figures(name, kind, table, cold, where)


# ---- all-reduces ----

def read_reduces(checkout, source, which):
    """Bytes of the message and seconds of an all-reduce of 16-bit values in a graph, in order."""
    kind = "nccl" if which.startswith("nccl/") else "custom_allreduce"
    table = read_table(checkout, "%s/comm/%s/%s_perf.parquet" % (source.data, which, kind))
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
    said = "%s: %d GPUs, %s, 16-bit values; range: %s" % (table.origin, gpus, fabric, ", ".join(files[1:]))
    yield figure_text("collective", "[[1B, %s], %s]" % (microseconds(points[0][1]), text),
                      spread(np.concatenate(ratio)), said)


def main():
    checkout, names = arguments(SOURCES)
    for name in names:
        source = SOURCES[name]
        figures = attention(name, checkout, source)
        for kind in WEIGHTS:
            if getattr(source, kind):
                figures += products(name, checkout, source, kind)
        if source.collective:
            figures += collective_figures(checkout, source)
        write_block(name, figures, "aiconfigurator.py")
    write_table()


if __name__ == "__main__":
    run(main)
