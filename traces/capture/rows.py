"""From masses and scores of units to rows of a decode trace.

A row keeps the units of sinks and recent tokens, and of the others those with the most mass (ties:
the lower number); units without mass are left out. An approximate row keeps the units that the
retrieval ranks highest, whatever their mass.
"""

import numpy as np

import swt
from units import NEVER


def pack(mass, born, header):
    """The row of a KV head that gave `mass` to each unit."""
    first, end = header.window
    middle = mass[first:end]
    kept = first + best(middle, header.keep)
    units = with_window(kept[mass[kept] > 0], header)
    tail = max(0.0, mass.sum() - mass[units].sum())
    return swt.pack_row(units.tolist(), mass_codes(mass[units]), born, tail)


def pack_asked(score, header):
    """The approximate row of a KV head whose retrieval gave `score` to each unit; its codes are
    places in the order of scores."""
    first, end = header.window
    kept = first + best(score[first:end], header.keep)
    kept = kept[score[kept] > NEVER]
    place = np.empty(len(kept), int)
    place[np.argsort(-score[kept], kind='stable')] = np.arange(len(kept))
    codes = np.zeros(header.units, np.uint8)
    codes[kept] = 256 * place // max(len(kept), 1)
    units = with_window(kept, header)
    return swt.pack_row(units.tolist(), codes[units])


def best(values, count):
    """The places of the `count` largest, ascending; ties to the lower place."""
    at = len(values) - count
    least = np.partition(values, at)[at]
    is_kept = values > least
    ties = np.flatnonzero(values == least)
    is_kept[ties[:count - is_kept.sum()]] = True
    return np.flatnonzero(is_kept)


def with_window(kept, header):
    first, end = header.window
    return np.concatenate((np.arange(first), kept, np.arange(end, header.units)))


def mass_codes(mass):
    """swt.mass_code() of each."""
    octaves = -np.log2(np.maximum(mass, swt.MASSES[255]))
    return np.clip(np.rint(10 * octaves), 0, 255).astype(np.uint8)
