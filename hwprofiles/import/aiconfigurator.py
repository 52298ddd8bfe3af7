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

fitting.py has the forms of the curves and how they are fitted; aiconfigurator_others.py those of latents, experts,
top-k, all-reduces and the smallest kernel; prompts.py those of attention of prompts.

A row is dropped if its time is 0, or if it would read data of four times the L2 or more at over 105 % of
the peak. Of several attention kernels that one file holds, the one with most rows is the one that servers
run by default: the others are left out.

Which rows: the newest SGLang that ran on the GPU itself (by the column `device`, the folder b300_sxm
holds a copy of the GB300's rows of SGLang 0.5.14), except that
- attention over fp8 KV on Hopper is the geometric mean of SGLang's and TensorRT-LLM's time of each kernel:
  SGLang 0.5.14 reads it at 66 % of the H100's peak, 0.5.10 at 90 %, TensorRT-LLM at 93 %;
- latents of fp8 on Hopper come from TensorRT-LLM: SGLang reads them at 8 % of the peak;
- products on the A100 are the geometric mean of SGLang's 0.5.9 and 0.5.10 and TensorRT-LLM's: each run has rows a
  tenth to a seventh apart from its neighbours, another run has others, and one kernel is in all of them;
- attention on the A100 has no rows of the kernel that vLLM runs there, FlashAttention 2. SGLang's, of pages of one
  token, reads 8 or 16 sequences at 37 % of the peak whatever their length, products 78 %; on the nine other GPUs
  attention reaches 98 to 115 % of the share of products, FlashAttention 2 as much as products (RTX 4090 94 and 95 %,
  RTX PRO 6000 94 and 94 %, LLMServingSim). So its share is that of products, and small KV bounds the fixed time, as
  in llmservingsim.py: by large KV it was 34 us, where small KV takes 17 to 28 us in all;
- the A100 has TensorRT-LLM 1.0.0 beside it, the attention of which is impossible by the rule above (302 rows, to 170 %
  of the peak), and whose latents miss one line by 21 % (median), as all latents on the RTX PRO 6000 Server do by 25 %;
- SGLang 0.5.12 on the L40S holds impossible attention;
- all-reduces over NVLink are those of SGLang 0.5.9 and 0.5.10, whose kernel is the one that vLLM wrote; SGLang 0.5.14
  has one of its own, which takes two thirds of the time up to 256 KiB, and ranges span it;
- cards on PCIe were in hosts of two kinds. RTX PRO 6000: two of SGLang 0.5.10's reach each other through the host,
  three times as slowly, and ranges span both. L40S: eight of SGLang 0.5.12's are ten times as fast as others;
- experts of bf16 come from TensorRT-LLM (CUTLASS) where SGLang runs Triton without a tuned configuration, which
  jumps by 40 % between 128 and 160 tokens: on all but the Blackwells with HBM, where it runs FlashInfer's kernels;
- experts of the B300 are those of the GB300, the same chip: SGLang 0.5.10 had no such kernels;
- attention over bf16 on the RTX PRO 6000 Server is fitted to LLMServingSim: vLLM's own kernel;
- fp8 products of the RTX PRO 6000 Server come from TensorRT-LLM: SGLang's miss one line by 21 % (median);
- experts of integers of 4 bits were measured best with SGLang 0.5.10, and marlin.py says what products of them are;
- NVFP4 is what the Blackwells multiply as it is: its activations have 4 bits, too.
"""
import collections

import numpy as np

import aiconfigurator_others as others
import marlin
import prompts
from aiconfigurator_files import mean, read_table, versions
from fitting import (FEW, LEAST_WEIGHTS, arguments, attention_figures, figure_text, percent, points_of,
                     product_figures, report, run, spread, stated, write_block, write_table)

# The folder of the data, the size of the L2 in bytes, and the measurements of attention over KV of bf16 and
# fp8, of products with weights of bf16, fp8 and 4 bits, of attention over latents of bf16 and fp8, of experts of
# bf16, fp8 and 4 bits, of top-k, of the smallest kernel, of all-reduces, of products and experts of NVFP4, and of
# attention of prompts, and of experts of MXFP4 with activations of bf16 and of fp8; whether attention is that of
# FlashAttention 2, of which there are no rows.
# None: there are none; of several, the mean counts, of the smallest kernel the first.
Source = collections.namedtuple(
    "Source", "data l2 attention attention_fp8 bf16 fp8 int4 mla mla_fp8 experts experts_fp8 experts_int4 topk small "
    "reduce fp4 experts_fp4 prompts experts_mxfp4 flash_2", defaults=[None] * 18)
NEW, OLD, OLDER, TRT = "sglang/0.5.14", "sglang/0.5.10", "sglang/0.5.9", "trtllm/1.3.0rc20"
SMALL = (TRT, "trtllm/1.3.0rc10")
BOTH = (TRT, NEW)


def nvlink(version, *newer):
    return others.Reduce(("nccl/" + version, OLD, OLDER), "NVLink", newer)


def server(data, l2, **other):
    """A GPU in a server with NVLink, on which SGLang and TensorRT-LLM measured nearly everything."""
    source = Source(data, l2, NEW, NEW, NEW, NEW, None, NEW, NEW, BOTH, NEW, OLD, NEW, SMALL, nvlink("2.29.2", NEW),
                    prompts=NEW)
    return source._replace(**other)


def blackwell(data, **other):
    """The same, with tensor cores that multiply NVFP4."""
    return server(data, 126e6, experts=(NEW, TRT), fp4=NEW, experts_fp4=NEW,
                  experts_mxfp4=NEW)._replace(**other)


SOURCES = {
    "h100-sxm": server("h100_sxm", 50e6, attention_fp8=(NEW, TRT), mla_fp8=TRT),
    "h200": server("h200_sxm", 60e6, attention_fp8=(NEW, TRT), mla_fp8=TRT, int4="trtllm/1.2.0rc5"),
    "a100-sxm-80gb": Source("a100_sxm", 40e6, OLD, bf16=(OLD, OLDER, "trtllm/1.0.0"), int4="trtllm/1.0.0",
                            experts=OLD, experts_int4=OLD,
                            reduce=nvlink("2.27.3"), prompts=OLD, flash_2=True),
    "l40s": Source("l40s", 96e6, NEW, NEW, NEW, NEW, "trtllm/1.0.0", mla=NEW, experts=BOTH, experts_int4=OLD,
                   small=(TRT, "trtllm/1.0.0"), reduce=others.Reduce(("nccl/2.27.3", NEW, "sglang/0.5.12"), "PCIe 4"), prompts=NEW),
    "rtx-pro-6000-server": Source("rtx_pro_6000_server", 128e6, None, NEW, NEW, TRT, experts=BOTH, experts_fp8=NEW,
                                  experts_int4=OLD, small=SMALL,
                                  reduce=others.Reduce(("nccl/2.29.2", NEW), "PCIe 5", (OLD,)), fp4=NEW, experts_fp4=NEW),
    "b200": blackwell("b200_sxm"),
    "b300": blackwell("b300_sxm", attention=OLD, attention_fp8=OLD, bf16=OLD, fp8=OLD, mla=OLD, mla_fp8=OLD,
                      fp4=OLD, prompts=OLD),
    "gb200": blackwell("gb200"),
    "gb300": blackwell("gb300"),
}


# ---- rows ----

def read_attention(checkout, source, kind, peak):
    tables = []
    for which in versions(source.attention_fp8 if kind == "fp8" else source.attention):
        table = read_table(checkout, "%s/attention/%s/generation_attention_perf.parquet" % (source.data, which))
        windows = table.columns.get("window_size", np.zeros(len(table["seconds"])))
        table.keep((table["head_dim"] == 128) & (windows == 0)
                   & (table["kv_cache_dtype"] == WEIGHTS[kind].name))
        kernels = collections.Counter(table["kernel_source"].tolist())
        table.keep(table["kernel_source"] == kernels.most_common(1)[0][0])
        table.columns["pairs"] = table["batch_size"] * table["num_key_value_heads"].astype(float)
        tokens = table["isl"] + table["step"]
        table.columns["bytes"] = 2 * table["pairs"] * tokens * 128 * WEIGHTS[kind].each
        table.columns["context"] = tokens
        table.drop_faster(table["bytes"], source.l2, peak)
        tables.append(table)
    return mean(tables, ("batch_size", "num_heads", "num_key_value_heads", "context"))


# Names of the type of weights in the data, bytes of a weight and of a value of the activations.
Weights = collections.namedtuple("Weights", "name each value")
WEIGHTS = {
    "bf16": Weights("bfloat16", 2, 2),
    "fp8": Weights("fp8", 1, 1),
    "int4": Weights("int4_wo", 0.5, 2),
    "fp4": Weights("nvfp4", 9 / 16, 9 / 16),
}


def read_products(checkout, source, kind, peak):
    tables = []
    for which in versions(getattr(source, kind)):
        table = read_table(checkout, "%s/gemm/%s/gemm_perf.parquet" % (source.data, which))
        weights = WEIGHTS[kind]
        table.keep(table["gemm_dtype"] == weights.name)
        m, n, k = (table[name].astype(float) for name in "mnk")
        table.columns["weights"] = n * k * weights.each
        table.columns["bytes"] = table["weights"] + m * k * weights.value + m * n * 2
        table.columns["flops"] = 2 * m * n * k
        table.drop_faster(table["weights"], source.l2, peak)
        tables.append(table)
    return mean(tables, "mnk")


def attention(name, checkout, source, kind):
    table = read_attention(checkout, source, kind, stated(name, "hbm_bandwidth"))
    small = (table["bytes"] >= 1 << 20) & (table["bytes"] < 8 << 20)
    most = np.median(table["seconds"][small]) if source.flash_2 else np.inf
    return attention_figures(name, kind, table, source.l2, most)


def as_products(name, checkout, source, texts, dense):
    """The figures of attention with the share of the bandwidth that products of few rows, `dense`, reach."""
    peak = stated(name, "hbm_bandwidth")
    fixed, own, pair, share = (points_of(texts + dense, which)[0][1] for which in (
        "attention_fixed", "attention_share", "attention_pair", "product_share"))
    table = read_attention(checkout, source, "bf16", peak)
    table.keep(table["bytes"] >= 2 * source.l2)
    ratio = (fixed + pair * table["pairs"] + table["bytes"] / (share * peak)) / table["seconds"]
    report(name, "attention bf16", ratio, {"cold": np.ones(len(ratio), bool)})
    said = ("that of products of few rows, as FlashAttention 2 has on two other GPUs; range: SGLang's attention, of "
            "pages of one token, which reaches %s, to hbm_share's 90%% of large reads" % percent(own))
    band = "[%s, %s]" % (percent(min(1, np.quantile(ratio, 0.1))), percent(0.9 / share))
    text = figure_text("attention_share", percent(share), band, said, "assumed")
    return [text if one.startswith("  attention_share:") else one for one in texts]


def read_prompts(checkout, source):
    """Prompts without a prefix, all rows of a call of one length."""
    table = read_table(checkout, "%s/attention/%s/context_attention_perf.parquet" % (source.data, source.prompts))
    windows = table.columns.get("window_size", np.zeros(len(table["seconds"])))
    batch, rows = table["batch_size"].astype(float), table["isl"].astype(float)
    table.keep((table["head_dim"] == 128) & (windows == 0) & (table["kv_cache_dtype"] == WEIGHTS["bf16"].name)
               & (rows >= prompts.LEAST) & (batch * rows <= prompts.MOST) & (table["num_heads"] >= 4))
    kernels = collections.Counter(table["kernel_source"].tolist())
    table.keep(table["kernel_source"] == kernels.most_common(1)[0][0])
    heads, kv_heads, batch, rows = (table[key].astype(float) for key in (
        "num_heads", "num_key_value_heads", "batch_size", "isl"))
    none = np.zeros(len(rows))
    prompts.make(table, heads, kv_heads, batch, none, rows, none, none)
    return table


def products(name, checkout, source, kind):
    table = read_products(checkout, source, kind, stated(name, "hbm_bandwidth"))
    cold = (6 * table["weights"] >= 2 * source.l2) & (table["m"] <= FEW)
    where = "weights of which six copies are twice the L2, up to %d rows" % FEW
    return product_figures(name, kind, table, cold, where)


def four_bits(name, checkout, source, dense):
    """Products with weights of integers of 4 bits. Those of TensorRT-LLM have up to FEW rows."""
    other = read_products(checkout, source, "int4", stated(name, "hbm_bandwidth")) if source.int4 else None
    if other:
        other.keep((other["n"].astype(float) * other["k"] >= LEAST_WEIGHTS) & (other["m"] <= FEW))
    return marlin.figures(name, checkout, source, dense, other)


def main():
    checkout, names = arguments(SOURCES)
    for name in names:
        source = SOURCES[name]
        figures = attention(name, checkout, source, "bf16") if source.attention else []
        dense = [text for kind in ("bf16", "fp8") if getattr(source, kind) for text in products(
            name, checkout, source, kind)]
        if source.flash_2:
            figures = as_products(name, checkout, source, figures, dense)
        if source.attention_fp8:
            figures += attention(name, checkout, source, "fp8")
        if source.prompts:
            bandwidth = prompts.bandwidth_of(name, "".join(figures))
            figures += prompts.figures(name, read_prompts(checkout, source), bandwidth, source.l2)
        figures += dense + four_bits(name, checkout, source, dense)
        figures += products(name, checkout, source, "fp4") if source.fp4 else []
        figures += others.figures(name, checkout, source)
        write_block(name, figures, "aiconfigurator.py")
    write_table()


if __name__ == "__main__":
    run(main)
