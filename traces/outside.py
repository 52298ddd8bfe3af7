#!/usr/bin/env python3
"""Do heads that attend outside the window change their queries more? (docs/bands.md)

    outside.py PROGRAM TRACE...

DuoAttention calls a head important if it needs more than sinks and recent tokens. No such table of a
recorded model is public, so a head's mean mass outside the window stands for it. Printed is a row for each
trace: its heads, their mean of that mass, and the rank correlation of it with the cosine of adjacent queries.
"""

import json
import subprocess
import sys

import swt


def outside(trace, layer, head):
    """Mean mass outside the window of a head, over steps and sequences."""
    h, masses = trace.header, []
    first, end = h.window
    for sequence in range(h.sequences):
        for tile in range(h.tiles):
            rows, size = trace.frame(sequence, tile, layer).rows, h.tile_steps(tile)
            masses += [row.tail + sum(2 ** (-code / 10) for unit, code in zip(row.units, row.codes)
                                      if first <= unit < end) for row in rows[head * size:(head + 1) * size]]
    return sum(masses) / len(masses)


def ranks(values):
    order = sorted(range(len(values)), key=values.__getitem__)
    return [order.index(i) for i in range(len(values))]


def correlation(a, b):
    """Spearman's, of values without ties."""
    n = len(a)
    return 1 - 6 * sum((x - y) ** 2 for x, y in zip(ranks(a), ranks(b))) / (n ** 3 - n)


def main(program, *paths):
    print('| recording | heads | mass outside | rank correlation with the cosine |\n|---|---:|---:|---:|')
    for path in paths:
        stats = json.loads(subprocess.run([program, 'trace', 'stats', path, '--json'], check=True,
                                          capture_output=True).stdout)
        with swt.Reader(path) as trace:
            recorded = trace.header.source.get('layers') or range(trace.header.layers)
            masses = [outside(trace, list(recorded).index(head['layer']), head['head']) for head in stats['heads']]
        cosines = [head['cosine_1'] for head in stats['heads']]
        print(f'| {path.split("/")[-1].removesuffix(".swt")} | {len(masses)} | {sum(masses) / len(masses):.2f} '
              f'| {correlation(masses, cosines):.2f} |')


if __name__ == '__main__':
    main(*sys.argv[1:])
