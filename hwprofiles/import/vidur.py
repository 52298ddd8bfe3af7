#!/usr/bin/env python3
"""Fits the products of the A40's profile to the public measurements of microsoft/vidur.

    git clone https://github.com/microsoft/vidur; git -C vidur checkout 7d47513
    hwprofiles/import/vidur.py vidur [PROFILE...]

For maintainers; needs Python 3 and numpy. It rewrites the figures between two comments in
hwprofiles/gpus/PROFILE.yaml and prints how well they fit. Run again, it writes the same bytes. Only fitted
figures enter the repository, no rows (MIT). fitting.py has the form of the curves.

The profiler runs one layer of a model in fp16, twenty times in a row, and sums the time of the kernels of
each operator (torch.profiler, to 1 us): their launches are not in it. The data do not say which versions
of PyTorch and CUDA ran. A layer has weights of 50 MB or more, so that none of them is still in the L2 of
6 MiB when it is read again. The median of the twenty times is used. On the A100 the same profiler finds a
share of the bandwidth that is 4 points above SGLang's in the data of aiconfigurator, so it is not a slow one.

A row is dropped if its time is 0, or if it would read weights of four times the L2 or more at over 105 %
of the peak. Beyond 64 rows of activations, products of a multiple of 64 rows fit.
"""
import collections
import os

from fitting import (FEW, Failure, arguments, join, product_figures, read_csv, run, set_products, stated,
                     write_block, write_table)

ORIGIN = "microsoft/vidur 7d47513, "
COMPUTE = "data/profiling/compute"

# The folder of the data and the size of the L2 in bytes.
Source = collections.namedtuple("Source", "folder l2")
SOURCES = {"a40": Source("a40", 6 << 20)}
OPERATORS = "attn_pre_proj", "attn_post_proj", "mlp_up_proj", "mlp_down_proj"


def weights(table, operator):
    """Columns and rows of an operator's weights on one of the GPUs that share a model."""
    hidden, inner, gpus, heads, kv_heads = (table.numbers(name) for name in (
        "n_embd", "n_expanded_embd", "num_tensor_parallel_workers", "n_head", "n_kv_head"))
    return {
        "attn_pre_proj": (hidden / heads * (heads + 2 * kv_heads) / gpus, hidden),
        "attn_post_proj": (hidden, hidden / gpus),
        "mlp_up_proj": (inner / gpus * (1 + (table["use_gated_mlp"] == "True")), hidden),
        "mlp_down_proj": (hidden, inner / gpus),
    }[operator]


def models(checkout, source):
    folder = os.path.join(checkout, COMPUTE, source.folder)
    if not os.path.isdir(folder):
        raise Failure("%s: no such folder" % folder)
    return sorted("%s/%s" % (owner, model) for owner in os.listdir(folder)
                  for model in os.listdir(os.path.join(folder, owner)))


def read_products(checkout, source):
    tables = []
    names = models(checkout, source)
    for operator in OPERATORS:
        for model in names:
            table = read_csv(checkout, "%s/%s/%s/mlp.csv" % (COMPUTE, source.folder, model))
            table.time("time_stats.%s.median" % operator, 1e3)
            table.columns["m"] = table.numbers("num_tokens")
            set_products(table, *weights(table, operator))
            tables.append(table)
    whole = join("", tables)
    whole.origin = "%s%s/%s/*/*/mlp.csv (%d models, fp16)" % (ORIGIN, COMPUTE, source.folder, len(names))
    return whole


def main():
    checkout, names = arguments(SOURCES)
    for name in names:
        table = read_products(checkout, SOURCES[name])
        table.drop_faster(table["weights"], SOURCES[name].l2, stated(name, "hbm_bandwidth"))
        figures = product_figures(name, "bf16", table, table["m"] <= FEW, "up to %d rows" % FEW)
        write_block(name, figures, "vidur.py")
    write_table()


if __name__ == "__main__":
    run(main)
