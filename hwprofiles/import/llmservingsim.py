#!/usr/bin/env python3
"""Fits the kernels' figures of GPU profiles to the public measurements of casys-kaist/LLMServingSim.

    git clone https://github.com/casys-kaist/LLMServingSim; git -C LLMServingSim checkout 5daddb2
    hwprofiles/import/llmservingsim.py LLMServingSim [PROFILE...]

For maintainers; needs Python 3 and numpy. It rewrites the figures between two comments in
hwprofiles/gpus/PROFILE.yaml, for all profiles of the table below or for those that are named, and prints
how well they fit. Run again, it writes the same bytes. Only fitted figures enter the repository, no rows
(MIT). fitting.py has the forms of the curves. All values are of 16 bits.

RTX 4090: the profiler runs one layer of Llama-3.1-8B in vLLM 0.19.0, without graphs, and sums the time of
the kernels of each module (torch.profiler): their launches are not in it. A module of attention also
writes the new KV. Weights of 1.4 GB pass through the L2 from one run to the next: products are cold.
Attention is not: 64 MiB of KV are read at 118 % of the bandwidth. KV of at least twice the L2 fits.
Small KV bounds the fixed time of attention: it is not above the median time over 1 to 8 MiB.

RTX PRO 6000 Server: attention of three models in the same profiler.

A call of attention also writes back what the call before left in the L2: logits of 32 bits of all its sequences, since
a model of one layer computes them just before. At 128 sequences 512 MiB of KV take 405 us, where aiconfigurator's rows
of the same kernel take 373; at 8 sequences they differ by 1 us, and with half of the vocabulary by half. The fit counts
them as bytes, up to the part of the L2 that leaves the least error on both GPUs. A server does so in one layer of all.

RTX A6000 and RTX 3090: the earlier profiler (v0) runs one layer in transformers 4.57.3 (the image
nvcr.io/nvidia/pytorch:25.01-py3) and sums the kernels of each module in the same way. Its table of
attention is not used: it holds up to 1660 % of the bandwidth.

A row is dropped if its time is 0, or if it would read data of four times the L2 or more at over 105 % of
the peak. Beyond 64 rows of activations, products of a multiple of 64 rows fit.
"""
import collections

import numpy as np

import moves
import prompts
from fitting import (FEW, arguments, attention_figures, join, product_figures, read_csv, run, set_products, stated,
                     write_block, write_table)

ORIGIN = "casys-kaist/LLMServingSim 5daddb2"
MODEL = "meta-llama/Llama-3.1-8B"

# The least that a pair of sequence and KV head takes: SGLang's 2048 sequences on the RTX PRO 6000 Server say so
# (aiconfigurator); these tables have 256, whose pairs take no time that could be told from the bytes'.
PAIR = 1.5e-9

# Columns and rows of the weights by the name of a module.
SHAPES = {
    "qkv_proj": (6144, 4096), "gate_up_proj": (28672, 4096),
    "q_proj": (4096, 4096), "k_proj": (1024, 4096), "v_proj": (1024, 4096), "o_proj": (4096, 4096),
    "gate_proj": (14336, 4096), "up_proj": (14336, 4096), "down_proj": (4096, 14336),
    "lm_head": (128256, 4096),
}
# Query and KV heads of the models whose attention was measured on the RTX PRO 6000 Server.
MODELS = {MODEL: (32, 8), "Qwen/Qwen3-32B": (64, 8), "Qwen/Qwen3-30B-A3B-Instruct-2507": (32, 4)}
PRO = "profiler/perf/RTXPRO6000/%s/bf16/tp%d/"
# Hidden states, queries, KV and columns of the FFN of the models, in values: what a token's kernels move.
WIDTHS = {MODEL: (4096, 4096, 1024, 14336), "Qwen/Qwen3-32B": (5120, 8192, 1024, 25600)}
SPLIT_K = "o_proj", "down_proj"  # modules that several GPUs share by rows of the weights
HEAD_SIZE = 128
# Logits of a sequence, and the share of the L2 that they fill at most before they are written back.
VOCABULARY = {MODEL: 128256, "Qwen/Qwen3-32B": 151936, "Qwen/Qwen3-30B-A3B-Instruct-2507": 151936}
LEFT = 0.4

MOVED = "norms, rotary embeddings and activations"

# The folder of the data, the size of the L2 in bytes, the software, and how many GPUs share a model.
Source = collections.namedtuple("Source", "folder l2 software shares")
V0 = "PyTorch of nvcr.io/nvidia/pytorch:25.01-py3"
SOURCES = {
    "rtx-4090": Source("profiler/perf/RTX4090/%s/bf16/tp%d/", 72 << 20, "vLLM 0.19.0", (1,)),
    "rtx-a6000": Source("profiler/v0/perf_models/A6000/%s/tp%d/", 6 << 20, V0, (1, 2)),
    "rtx-3090": Source("profiler/v0/perf_models/RTX3090/%s/tp%d/", 6 << 20, V0, (1, 2)),
}

# GPUs whose attention alone is fitted here, with the size of the L2; aiconfigurator.py fits the rest.
PROMPTS = {"rtx-pro-6000-server": 128e6}

# The tables of products: file, columns of the module, the rows of activations and the time, and its unit.
V0_TABLES = (("layers.csv", "layer_name", "input", "latency(ns)", 1e9),)
TABLES = (("dense.csv", "layer", "tokens", "time_us", 1e6), ("per_sequence.csv", "layer", "sequences", "time_us", 1e6))


def read_products(checkout, source):
    tables = []
    for shares in source.shares:
        for name, layer, rows, time, per_second in V0_TABLES if source.software == V0 else TABLES:
            table = read_csv(checkout, source.folder % (MODEL, shares) + name)
            table.time(time, per_second)
            table.keep(np.isin(table[layer], list(SHAPES)))
            n, k = (np.array([SHAPES[layer][side] for layer in table[layer]], float) for side in (0, 1))
            split = np.isin(table[layer], SPLIT_K)
            table.columns["m"] = table.numbers(rows)
            set_products(table, np.where(split, n, n / shares), np.where(split, k / shares, k))
            tables.append(table)
    return join("%s, %s, " % (ORIGIN, source.software), tables)


def read_attention(checkout, source, peak):
    table = decodes_of(checkout, source.folder, MODEL, 1, source.l2, peak)
    table.origin = "%s, %s, %s" % (ORIGIN, source.software, table.origin)
    return table


def decodes_of(checkout, folder, model, shares, l2, peak):
    """Decoding alone: no rows of a prompt beside it. The call before left its logits, of 32 bits, in the L2."""
    table = read_csv(checkout, folder % (model, shares) + "attention.csv")
    table.time("time_us", 1e6)
    table.keep((table.numbers("prefill_chunk") == 0) & (table.numbers("n_decode") > 0))
    table.columns["pairs"] = table.numbers("n_decode") * MODELS[model][1] / shares
    table.columns["bytes"] = 4 * table["pairs"] * table.numbers("kv_decode") * HEAD_SIZE
    logits = 4 * table.numbers("n_decode") * VOCABULARY[model] / shares
    table.columns["left"] = np.minimum(np.minimum(logits, LEFT * l2), table["bytes"])
    table.drop_faster(table["bytes"], l2, peak)
    return table


def read_prompts(checkout, folder, heads, shares, mixed):
    """Calls of one prompt, alone or beside decodes."""
    table = read_csv(checkout, folder + "attention.csv")
    table.time("time_us", 1e6)
    table.keep((table.numbers("prefill_chunk") > 0) & ((table.numbers("n_decode") > 0) == mixed))
    start, rows, decodes, context = (table.numbers(key) for key in (
        "kv_prefill", "prefill_chunk", "n_decode", "kv_decode"))
    query, kv = (np.full(len(rows), one / shares) for one in heads)
    prompts.make(table, query, kv, np.ones(len(rows)), start, rows, decodes, context)
    return table


def pro_tables(checkout):
    """Calls of prompts in vLLM on the RTX PRO 6000 Server, alone and beside decodes: three models, on one GPU and
    shared by two."""
    folders = [(PRO % (model, shares), heads, shares) for model, heads in MODELS.items() for shares in (1, 2)]
    tables = [join("%s, vLLM 0.19.0, " % ORIGIN, [
        read_prompts(checkout, *folder, mixed) for folder in folders]) for mixed in (False, True)]
    for table in tables:
        table.origin = "%s, vLLM 0.19.0, %s" % (ORIGIN, PRO.split("%")[0])
    return tables


def pro_attention(checkout, name, l2):
    """Decoding alone in the same models."""
    peak = stated(name, "hbm_bandwidth")
    table = join("%s, vLLM 0.19.0, " % ORIGIN, [
        decodes_of(checkout, PRO, model, shares, l2, peak) for model in MODELS for shares in (1, 2)])
    table.origin = "%s, vLLM 0.19.0, %s" % (ORIGIN, PRO.split("%")[0])
    return table


def decode_figures(name, table, l2):
    """Small KV bounds the fixed time."""
    small = (table["bytes"] >= 1 << 20) & (table["bytes"] < 8 << 20)
    return attention_figures(name, "bf16", table, l2, np.median(table["seconds"][small]), PAIR)


def pro_figures(name, checkout, l2):
    tables = pro_tables(checkout)
    texts = decode_figures(name, pro_attention(checkout, name, l2), l2)
    texts += moves.figure(name, read_moves(checkout, PRO, WIDTHS), MOVED)
    return texts + prompts.figures(name, tables[0], prompts.bandwidth_of(name, "".join(texts)), l2, tables[1])


def read_moves(checkout, folder, models):
    """Norms with their residual, rotary embeddings of queries and keys, and the activation."""
    tables = []
    for model in models:
        hidden, queries, keys, ffn = WIDTHS[model]
        values = {"layernorm": 4 * hidden, "rotary_emb": 2 * (queries + keys), "act_fn": 3 * ffn}
        table = read_csv(checkout, folder % (model, 1) + "dense.csv")
        table.time("time_us", 1e6)
        table.keep(np.isin(table["layer"], list(values)))
        each = np.array([values[layer] for layer in table["layer"]], float)
        table.columns["bytes"] = 2 * table.numbers("tokens") * each
        tables.append(table)
    table = join("%s, vLLM 0.19.0, " % ORIGIN, tables)
    table.origin = "%s, vLLM 0.19.0, %s" % (ORIGIN, folder.split("%")[0])
    return table


def figures(name, checkout, source):
    peak, texts = stated(name, "hbm_bandwidth"), []
    if source.software != V0:
        table = read_attention(checkout, source, peak)
        texts += decode_figures(name, table, source.l2)
        alone, mixed = (read_prompts(checkout, source.folder % (MODEL, 1), MODELS[MODEL], 1, beside)
                        for beside in (False, True))
        for table in (alone, mixed):
            table.origin = "%s, %s, %s" % (ORIGIN, source.software, table.origin)
        texts += prompts.figures(name, alone, prompts.bandwidth_of(name, "".join(texts)), source.l2, mixed)
        texts += moves.figure(name, read_moves(checkout, source.folder, [MODEL]), MOVED)
    table = read_products(checkout, source)
    table.drop_faster(table["weights"], source.l2, peak)
    cold = table["m"] <= FEW
    return texts + product_figures(name, "bf16", table, cold, "up to %d rows" % FEW)


def main():
    checkout, names = arguments([*SOURCES, *PROMPTS])
    for name in names:
        texts = (pro_figures(name, checkout, PROMPTS[name]) if name in PROMPTS
                 else figures(name, checkout, SOURCES[name]))
        write_block(name, texts, "llmservingsim.py")
    write_table()


if __name__ == "__main__":
    run(main)
