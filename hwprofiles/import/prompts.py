"""Attention of prompts, alone and in one call with decodes: how rows are fitted, and the figures as texts.

    fixed + max(bytes, max(FLOPs, token * mean) + token * (longest - mean) + empty blocks * block)

as sim/decode/cost/attention.h says: FLOPs / (share * peak) of all rows, each of which attends to `extra`
more tokens; `mean` and `longest` tokens of the blocks of 64 rows that a query head has. All of it is linear in
the figures except for which of two terms is the larger one: that is what the figures before say, and
then all are fitted again.
"""
import re

import numpy as np

from fitting import figure_text, fit, flops_peak, microseconds, nanoseconds, percent, report, spread, stated

BLOCK = 64               # rows, FlashAttention 2
LEAST, MOST = 128, 65536  # rows of a prompt and of a call that fit: what servers compute in a step
FIGURES = "prompt_fixed", "prompt_share", "prompt_extra", "prompt_token", "prompt_block"


def make(table, heads, kv_heads, prompts, start, rows, decodes, context, size=128):
    """Set the columns of calls: `prompts` prompts of `rows` rows after `start` tokens, `decodes` sequences of
    `context` tokens, heads of `size` values of 16 bits."""
    blocks = prompts * np.ceil(rows / BLOCK)
    pairs = prompts * (rows * start + rows ** 2 / 2)
    tiles = np.where(rows > 0, blocks * (start + rows / 2), 0) + decodes * context
    table.columns.update({
        "heads": heads, "group": heads / kv_heads, "decodes": decodes,
        "pairs": pairs + BLOCK * decodes * context, "rows": prompts * rows + BLOCK * decodes,
        "mean": tiles / np.maximum(blocks + decodes, 1), "longest": np.maximum(start + rows, context * (decodes > 0)),
        "empty": heads * (prompts + decodes) * np.ceil(rows / BLOCK) - heads * (blocks + decodes),
        "kv": 4 * size * (prompts * (start + rows) + decodes * context), "each": 4.0 * size * heads,
        "bytes": 4 * size * (kv_heads * (prompts * (start + rows) + decodes * context) + heads * prompts * rows),
    })


class Figures:
    """Seconds of a call, from figures in base units; `rate` in FLOPs a second."""

    def __init__(self, fixed=0, rate=np.inf, extra=0, token=0, block=0):
        self.fixed, self.rate, self.extra, self.token, self.block = fixed, rate, extra, token, block

    def flops(self, table):
        return table["each"] * (table["pairs"] + self.extra * table["rows"]) / self.rate

    def read(self, table, l2):
        held = self.rate * self.token / (BLOCK * table["each"] / table["heads"])
        rounds = np.clip(table["group"] * table["decodes"] / np.maximum(held, 1e-9), 1, table["group"])
        over = np.clip(2 * (table["kv"] / l2 - 0.75), 0, 1)
        return table["bytes"] * (1 + np.where(table["decodes"] > 0, (rounds - 1) * over, 0))

    def seconds(self, table, bandwidth, l2):
        busy = np.maximum(self.flops(table), self.token * table["mean"])
        blocks = busy + self.token * (table["longest"] - table["mean"]) + self.block * table["empty"]
        return self.fixed + np.maximum(self.read(table, l2) / bandwidth, blocks)


def fitted(table):
    """Figures of calls of prompts alone."""
    seconds, found = table["seconds"], Figures(rate=1e15, token=1e-8)
    ones, none = np.ones(len(seconds)), np.zeros(len(seconds))
    for _ in range(40):
        many = found.flops(table) >= found.token * table["mean"]
        columns = [ones, np.where(many, table["longest"] - table["mean"], table["longest"]),
                   np.where(many, table["each"] * table["pairs"], none),
                   np.where(many, table["each"] * table["rows"], none)]
        fixed, token, pair, row = fit(columns, seconds, (0, 0, 1e-18, 0), (seconds.min(), np.inf, np.inf, np.inf))
        found = Figures(fixed, 1 / pair, row / pair, token)
    return found


def figures(name, table, bandwidth, l2, mixed=None):
    """Fit the figures to calls of prompts alone and, of one call with decodes, to `mixed`. As texts."""
    found = fitted(table)
    ratio = found.seconds(table, bandwidth, l2) / table["seconds"]
    report(name, "prompts bf16", ratio, {"alone": np.ones(len(ratio), bool)})
    said = table.source("prompts alone, head size 128", len(ratio), ratio - 1)
    band, over = spread(ratio), spread(1 / ratio)
    texts = [
        figure_text("prompt_fixed", microseconds(found.fixed), over, said),
        figure_text("prompt_share", percent(found.rate / flops_peak(name, "bf16")), band, said),
        figure_text("prompt_extra", "%.0f" % max(1, found.extra), over, said),
        figure_text("prompt_token", nanoseconds(found.token), over, said),
    ]
    return texts + (block_figure(name, found, mixed, bandwidth, l2) if mixed else [])


def block_figure(name, found, mixed, bandwidth, l2):
    """The time of an empty block at which half of the calls are predicted too long in which it counts: one of 1 ns
    would be a tenth of the time."""
    many = mixed["empty"] * 1e-9 > 0.1 * mixed["seconds"]
    low, high = 0.0, 20e-9
    for _ in range(40):
        found.block = (low + high) / 2
        long = np.median((found.seconds(mixed, bandwidth, l2) / mixed["seconds"])[many]) > 1
        low, high = (low, found.block) if long else (found.block, high)
    ratio = found.seconds(mixed, bandwidth, l2) / mixed["seconds"]
    report(name, "prompts bf16", ratio, {"mixed": np.ones(len(ratio), bool), "mixed, 32+": mixed["decodes"] >= 32})
    print("%-20s mixed, worst %+.0f %% and %+.0f %%" % (name, 100 * ratio.min() - 100, 100 * ratio.max() - 100))
    said = mixed.source("prompts beside decodes in one call", len(ratio), ratio - 1)
    return [figure_text("prompt_block", nanoseconds(found.block), spread(1 / ratio[many]), said)]


def bandwidth_of(name, text):
    """Bytes a second of decode attention, from the texts of its figures."""
    share = re.search(r"^  attention_share:\n    value: ([\d.]+)%", text, re.M)
    return stated(name, "hbm_bandwidth") * float(share.group(1)) / 100
