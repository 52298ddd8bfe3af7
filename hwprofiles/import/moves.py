"""Kernels that only move activations, such as norms and rotary embeddings: how long they take, by the bytes that they
read and write.

What they read was written by the kernel before, so it lies in the L2 if that is large enough. The rows are those of
vLLM's norms, rotary embeddings and activations in LLMServingSim, on the two GPUs that it has, and elsewhere of
TensorRT-LLM's kernel that scales a matrix from 16 to 8 bits, in a graph and over and over. That one is faster: on the
RTX PRO 6000 Server, which has both, vLLM's take SLOWER times as long while the L2 holds the bytes, and as long from
twice its size on; a tenth of them less than APART[0] of that, a tenth more than APART[1]. A GPU without rows takes its nearest: as long as that one
per multiprocessor while the bytes are at most three fifths of its L2, and beyond at the other's share of the
bandwidth (HELD: from 40 to 75 % of an L2 the measured times bend).
"""
import re

import numpy as np

from fitting import bytes_text, figure_text, microseconds, profile_text, report, spread, stated, thin

FIRST, LAST = 16, 33  # powers of two of the bytes
HELD = 0.6
NEAR = 0.06
SLOWER, APART = 1.4, (0.75, 1.9)
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}


def fitted(table):
    """The shortest time, and then for each power of two of the bytes what the rows around it take beyond that."""
    power = np.log2(table["bytes"])
    least = np.median(table["seconds"][power <= FIRST + 0.5])
    points = [(1 << FIRST, least)]
    for exponent in range(FIRST + 1, LAST + 1):
        near = abs(power - exponent) <= 0.5
        if near.any():
            each = np.median((table["seconds"][near] - least) / table["bytes"][near])
            points.append((1 << exponent, least + max(0, each) * (1 << exponent)))
    times = np.maximum.accumulate([seconds for _, seconds in points])
    return thin([(size, seconds) for (size, _), seconds in zip(points, times)], NEAR)


def text_of(points):
    pairs = ", ".join("[%s, %s]" % (bytes_text(size), microseconds(seconds)) for size, seconds in points)
    return "[[1B, %s], %s]" % (microseconds(points[0][1]), pairs)


def figure(name, table, what, scaled=None):
    """`scaled`: the L2's bytes, if the rows are of the kernel that scales."""
    table.keep(table["bytes"] >= 1 << FIRST - 1)
    points = fitted(table)
    ratio = np.interp(table["bytes"], *zip(*points)) / table["seconds"]
    report(name, "moves", ratio, {"rows": np.ones(len(ratio), bool)})
    said = table.source(what, len(ratio), ratio - 1)
    if not scaled:
        return [figure_text("move", text_of(points), spread(1 / ratio), said)]
    over = [np.interp(np.log2(size / scaled), (0, 1), (SLOWER, 1)) for size, _ in points]
    times = np.maximum.accumulate([seconds * slower for (_, seconds), slower in zip(points, over)])
    points = [(size, seconds) for (size, _), seconds in zip(points, times)]
    return [figure_text("move", text_of(points), spread(np.repeat(APART, 2)), said)]


# ---- carried over ----

def points_of(text):
    """The points of the figure in a text, or None."""
    found = re.search(r"^  move:\n    points: (.*?)\n    basis", text, re.M | re.S)
    if found is None:
        return None
    pairs = re.findall(r"\[([\d.]+)([KMG]iB),\s+([\d.]+)([um])s\]", found.group(1))
    return [(float(size) * UNITS[unit], float(value) * {"u": 1e-6, "m": 1e-3}[scale])
            for size, unit, value, scale in pairs]


def amount(name, figure):
    """Multiprocessors, or the bytes of the L2, of a profile or of the one that it extends."""
    text = profile_text(name)
    found = re.search(r"^  %s:\s*{?(?:\n    )?value: ([\d.]+)(MiB)?" % figure, text, re.M)
    if found:
        return float(found.group(1)) * (UNITS[found.group(2)] if found.group(2) else 1)
    return amount(re.search(r"^  extends: (\S+)", text, re.M).group(1), figure)


def carried(name, donor, points):
    """The points of a GPU from those of another."""
    size = np.array([float(1 << exponent) for exponent in range(FIRST, LAST + 1)])
    seconds = np.interp(size, *zip(*points))
    size, seconds = size[size <= points[-1][0]], seconds[size <= points[-1][0]]
    share = size[-1] / seconds[-1] / stated(donor, "hbm_bandwidth")
    held = size <= HELD * amount(name, "l2")
    scale = amount(donor, "sms") / amount(name, "sms")
    times = np.where(held, seconds[0] + (seconds - seconds[0]) * scale,
                     seconds[0] + size / (share * stated(name, "hbm_bandwidth")))
    return thin(list(zip(size, np.maximum.accumulate(times))), NEAR)
