#!/usr/bin/env python3
"""Unions of adjacent demands: what verifications of drafts ask for (README.md).

    unions.py PROGRAM TRACE...

A verification of n drafts attends to the sum of the demands of n + 1 adjacent steps, and holds their
union. Printed is a row for each trace: the union over all runs of n + 1 steps of a head, in demands of
one step. Layers with sliding windows are left out, as `trace stats` leaves them out.
"""

import json
import os
import subprocess
import sys

import swt

DRAFTS = 1, 2, 3, 4, 6, 8
SHARE = 0.1  # of the context in a demand


def demand(header, row):
    """The best units outside the window: by mass, then by position."""
    first, end = header.window
    ranked = sorted((code, unit) for unit, code in zip(row.units, row.codes) if first <= unit < end)
    return {unit for _, unit in ranked[:int(SHARE * header.units + 0.5)]}


def heads_of(trace, layers):
    """The demands of each head, step by step."""
    h = trace.header
    for sequence in range(h.sequences):
        for layer in layers:
            steps = [[] for _ in range(h.kv_heads)]
            for tile in range(h.tiles):
                rows, size = trace.frame(sequence, tile, layer).rows, h.tile_steps(tile)
                for head in range(h.kv_heads):
                    steps[head] += [demand(h, row) for row in rows[head * size:(head + 1) * size]]
            yield from steps


def unions(path, layers):
    """By drafts, the union of all runs of adjacent steps in demands of one step."""
    attended, union = dict.fromkeys(DRAFTS, 0), dict.fromkeys(DRAFTS, 0)
    with swt.Reader(path) as trace:
        for demands in heads_of(trace, layers):
            for drafts in DRAFTS:
                for i in range(len(demands) - drafts):
                    run = demands[i:i + drafts + 1]
                    attended[drafts] += sum(map(len, run))
                    union[drafts] += len(set().union(*run))
    return [union[drafts] / attended[drafts] * (drafts + 1) for drafts in DRAFTS]


def layers_of(program, path):
    """The layers that count, as the file numbers them."""
    def said(*options):
        found = subprocess.run([program, 'trace', 'stats', path, '--json', *options],
                               stdout=subprocess.PIPE, check=True)
        return list(dict.fromkeys(head['layer'] for head in json.loads(found.stdout)['heads']))
    every = said('--layers', 'all')
    return [every.index(layer) for layer in said()]


def main():
    program, *paths = sys.argv[1:]
    for path in paths:
        found = unions(path, layers_of(program, path))
        name = os.path.splitext(os.path.basename(path))[0]
        print(f'| `{name}` | ' + ' | '.join(f'{demands:.2f}' for demands in found) + ' |')


if __name__ == '__main__':
    main()
