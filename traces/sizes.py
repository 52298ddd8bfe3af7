#!/usr/bin/env python3
"""What recordings of small models and published hits of larger ones say together about a model's size.

    traces/sizes.py [PROGRAM]

Prints the tables of docs/bands.md ("The size of a model").

A model's figure is the mean logit of its hits, over the recorded texts or the published contexts. Logits are regressed
on the logarithm of the number of parameters. A model of another size lies in the line's prediction band with CHANCE of
twin_bands.py (Student's t, n - 2 degrees of freedom; any textbook of regression). The band widens with the distance
from the mean size. It takes models for draws about the line, whoever made and measured them.

Published are single runs on their authors' texts, in RetroInfer's clusters; recorded are single tokens.
"""

import json
import math
import subprocess
import sys
from pathlib import Path

from twin_bands import CHANCE, logit, quantile, share_of

TRACES = Path(__file__).resolve().parent

# Billions of parameters; a recording's two texts ship.
RECORDED = {'smollm2-135m': 0.1345, 'gemma-3-270m': 0.2681, 'qwen2.5-coder-0.5b': 0.4940}

# CLO and LiteCache, 2025: hits of RetroInfer's LRU, top-k of 10 %. Llama-3-8B at 4K to 128K tokens, Qwen2.5-14B at 16K
# to 128K, one sequence (scenarios/papers/hits.yaml). The 10 % of Llama-3-8B are "around 70 %".
PUBLISHED = {
    'Llama-3-8B': (8.030, {'30%': [.95, .94, .93, .92, .93, .93], '10%': [.70]}),
    'Qwen2.5-14B': (14.77, {'30%': [.931, .931, .934, .931]}),
}

SIZES = 0.5, 1, 3, 8, 32, 70, 405


def recorded_hits(program, name, cache):
    for recording in name, name + '-code':
        line = subprocess.run([program, 'curve', TRACES / f'{recording}.swt', '--policy', 'lru', '--sizes', cache,
                               '--json'], check=True, capture_output=True, text=True).stdout
        row = json.loads(line)
        yield 1 - row['misses'] / row['accesses']


def points(program, cache):
    """(name, logarithm of the parameters, mean logit) of each model that has the figure."""
    hits = {name: (size, list(recorded_hits(program, name, cache))) for name, size in RECORDED.items()}
    hits |= {name: (size, rows[cache]) for name, (size, rows) in PUBLISHED.items() if cache in rows}
    return [(name, math.log10(size), sum(map(logit, shares)) / len(shares)) for name, (size, shares) in hits.items()]


class Line:
    def __init__(self, models):
        self.count = len(models)
        self.mean_x = sum(x for _, x, _ in models) / self.count
        self.mean_y = sum(y for _, _, y in models) / self.count
        self.squares = sum((x - self.mean_x) ** 2 for _, x, _ in models)
        self.slope = sum((x - self.mean_x) * (y - self.mean_y) for _, x, y in models) / self.squares
        freedom = self.count - 2
        left = sum((y - self.at(x)) ** 2 for _, x, y in models) / freedom
        self.half = quantile(freedom) * math.sqrt(left)
        self.slope_half = self.half / math.sqrt(self.squares)

    def at(self, x):
        return self.mean_y + self.slope * (x - self.mean_x)

    def band(self, x):
        half = self.half * math.sqrt(1 + 1 / self.count + (x - self.mean_x) ** 2 / self.squares)
        return share_of(self.at(x) - half), share_of(self.at(x) + half)


def main():
    program = Path(sys.argv[1] if len(sys.argv) > 1 else TRACES.parent / 'build/spillway').resolve()
    models = {cache: points(program, cache) for cache in ('30%', '10%')}
    lines = {cache: Line(of) for cache, of in models.items()}
    print('| model | billions | LRU, 30 % | LRU, 10 % |\n|---|---|---|---|')
    tenth = {name: y for name, _, y in models['10%']}
    for name, x, y in models['30%']:
        cell = f'{100 * share_of(tenth[name]):.0f}' if name in tenth else ''
        print(f'| {name} | {10 ** x:.3g} | {100 * share_of(y):.0f} | {cell} |')
    print('\n| billions |', ' | '.join(f'{size:g}' for size in SIZES), '|\n|' + '---|' * (len(SIZES) + 1))
    for cache, line in lines.items():
        bands = (line.band(math.log10(size)) for size in SIZES)
        print(f'| LRU, {cache[:-1]} % |', ' | '.join(f'{100 * low:.0f}–{100 * high:.0f}' for low, high in bands), '|')
    for cache, line in lines.items():
        print(f'\nLRU, {cache[:-1]} %: {line.slope:+.2f} logits for ten times the parameters, '
              f'{line.slope - line.slope_half:+.2f} to {line.slope + line.slope_half:+.2f} ({100 * CHANCE:.0f} %)')


if __name__ == '__main__':
    main()
