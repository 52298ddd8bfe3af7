"""Products with dense weights of 4 bits, in the kernel that vLLM and SGLang run: Marlin.

No table has them. TensorRT-LLM's are of a kernel of its own, which reads half as fast at 4 to 64 rows on an H200; they
fit nothing and only widen the range. SGLang's experts of 4 bits are Marlin's, and a product of few rows is one expert:

    share of the bandwidth   that of experts of up to FEW_ROWS rows
    share of the FLOPs       up to a full tile, by its rows: SGLang takes the smallest tile that an expert's rows fill
                             to less than FILLED, and a product the smallest that holds its rows
    fixed time               that of a product in bf16; a layer of experts has other kernels beside its products

Weights are unpacked and multiplied in bf16. From as many rows on as the GPU has FLOPs a byte, products take as long as
in bf16, which TensorRT-LLM's do; experts reach a third to two thirds of that.
"""
import numpy as np

from aiconfigurator_files import versions
from aiconfigurator_others import FEW_ROWS, experts_shares, read_cold_experts
from fitting import (figure_text, fit, flops_peak, microseconds, percent, points_of, points_text, report, rising,
                     share_of, spread, stated, thin)

TILES = np.array([8, 16, 32, 48, 64])
FILLED = 0.9
KIND = "int4"


def fill_tiles(table):
    """The rows of an expert, and its FLOPs, become those of the tiles that compute them."""
    rows = table["rows"]
    tile = TILES[np.minimum(np.searchsorted(FILLED * TILES, rows, side="right"), len(TILES) - 1)]
    filled = np.maximum(rows, tile)
    table.columns["flops"] = table["flops"] * filled / rows
    table.columns["rows"] = filled


def as_dense(name, shares, dense):
    """Shares of experts up to a full tile, and those of products in bf16, `dense`, where these are bound by FLOPs."""
    ridge = flops_peak(name, KIND) / stated(name, "hbm_bandwidth")
    few = [point for point in shares if point[0] <= TILES[-1]]
    return rising(thin(few + [point for point in dense if point[0] >= max(ridge, 2 * TILES[-1])]))


def figures(name, checkout, source, dense, other=None):
    """The figures as texts, from those of products in bf16, `dense`. `other`: TensorRT-LLM's products."""
    peak, compute = stated(name, "hbm_bandwidth"), flops_peak(name, KIND)
    table, cold = read_cold_experts(name, checkout, source, versions(source.experts_int4)[0], KIND)
    few, size, seconds = cold & (table["rows"] <= FEW_ROWS), table["bytes"], table["seconds"]
    layer, byte = fit([np.ones(few.sum()), size[few]], seconds[few], (seconds.min(), 0))
    fill_tiles(table)
    experts = experts_shares(table, layer + byte * table["data"], byte * table["weights"], table["flops"] / compute, cold)
    bf16, fixed = points_of(dense, "flops_share"), points_of(dense, "product_fixed")[0][1]
    said = "%s: Marlin's experts, a product being one of them" % table.origin
    ratio, others = (layer + byte * size[few]) / seconds[few], ""
    if other:
        read = (fixed + byte * other["bytes"]) / other["seconds"]
        report(name, "products int4", read, {"other": np.ones(len(read), bool)})
        ratio = np.concatenate([np.quantile(one, np.linspace(0, 1, 1001)) for one in (ratio, read)])
        others = "; range: and %s" % other.origin
    slow = max(share for _, share in experts) / max(share for _, share in bf16)
    return [
        figure_text("product_fixed_int4", microseconds(fixed), "[100%%, %s]" % percent(max(1, layer / 2 / fixed)),
                    "that of products in bf16; range: to half of a layer of Marlin's experts", "assumed"),
        figure_text("product_share_int4", percent(share_of(table, byte, peak)), spread(ratio), said + others, "assumed"),
        figure_text("flops_share_int4", points_text(as_dense(name, experts, bf16), percent),
                    "[%s, 100%%]" % percent(min(1, slow)),
                    said + ", and products in bf16; range: to experts of many rows", "assumed"),
    ]
