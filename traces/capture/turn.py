"""Finds how a rotary position embedding turned a query, from the query before and after it.

The embedding turns each pair of channels by an angle that is the same in all heads. So neither its
kind nor its scaling has to be known. Pairs are neighbours, or channels half a head apart. It may
also scale all channels by one factor: YaRN makes queries longer.
"""

import numpy as np

MAX_ERROR = 1e-3  # of a query turned by the angles found


def find_turn(plain, query):
    """A function that turns queries [query heads, head dim] as `plain` was turned into `query`; or
    None."""
    if plain.shape[1] % 2:
        return None
    longer = np.linalg.norm(query) / max(np.linalg.norm(plain), 1e-30)
    for split, join in ((split_neighbours, join_neighbours), (split_halves, join_halves)):
        before, after = split(plain), split(query)
        products = (before.conj() * after).sum(axis=0)
        lengths = np.abs(products)
        turns = longer * np.where(lengths > 0, products / np.maximum(lengths, 1e-30), 1)
        if error(before * turns, after) <= MAX_ERROR:
            return lambda vectors: join(split(vectors) * turns).astype(np.float32)
    return None


def split_neighbours(vectors):
    return vectors[:, 0::2] + 1j * vectors[:, 1::2]


def join_neighbours(pairs):
    return np.stack((pairs.real, pairs.imag), axis=2).reshape(len(pairs), -1)


def split_halves(vectors):
    first, second = np.split(vectors, 2, axis=1)
    return first + 1j * second


def join_halves(pairs):
    return np.concatenate((pairs.real, pairs.imag), axis=1)


def error(found, wanted):
    return np.linalg.norm(found - wanted) / max(np.linalg.norm(wanted), 1e-30)
