#!/usr/bin/env python3
"""Leave one family out: what recordings of other models say about a model, and what 32 steps add.

    traces/families.py [PROGRAM]      prints the tables of docs/bands.md, as Markdown (a minute)

Only the shipped recordings are read: three families on the policy manual, the same on source code.

Figures. The twenty that `trace fit` reports besides the cosines: overlaps, attention mass of fresh
selections, hits of LRU and FIFO, and sets reused and mass at four thresholds of QSAC. Demands are
10 % of the context.

The rule, written down before any of the tables was computed:

1. All figures are shares. They are compared in logits, because misses, not hits, are what differs
   by factors. A share closer to 0 or 1 than .0005 counts as .0005 or .9995.
2. n families give the range [a, b] of a figure. It is widened on both sides by k(n) * (b - a), so
   that the figure of one more family lies inside with a chance of one half.
3. k(3) = 0. If the families are exchangeable, one more lies in the plain range of n others with a
   chance of (n - 1) / (n + 1), whatever the distribution: one half for n = 3, so the range of the
   three shipped families needs no widening. With n = 2 the chance is one third, and k(2) depends
   on the distribution. It is taken as normal; then k(2) = (sqrt(3) - 1) / 2 = .366, and the range
   becomes sqrt(3) times as wide.
4. Leaving out a family tests this: the widened range of the other two should hold half of its
   figures. Width is compared with the spread of all three families, in points. It should be at
   most 1.5 times the spread in the median.
5. With a recording of 32 steps, the model's own figures take the place of the other families', and
   the range is that of the changes from the first 32 steps to what is predicted (later steps, or
   the other text) in the other families, in logits, widened by the same k(n).

One half was chosen because three families can promise no more without assumptions. Chances of two
in three and four in five are shown for comparison. With three families, leaving out the least and
the most both succeed only if k(2) >= 1: the rule cannot hold a figure in all three. The family in
the middle is always held: 20 of 60 for any k(2), and with k(2) = 1 exactly 40.
"""

import json
import math
import re
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import swt

TRACES = Path(__file__).resolve().parent
FAMILIES = {'smollm2-135m': 'SmolLM2', 'qwen2.5-coder-0.5b': 'Qwen2.5', 'gemma-3-270m': 'Gemma 3'}
OWN_STEPS = 32
LEAST_SHARE = .0005
CHANCE = 1 / 2  # of the rule
CHANCES = {1 / 3: '1/3, the plain range of two', 1 / 2: '1/2, the rule', 2 / 3: '2/3', 4 / 5: '4/5'}


# ---- the rule ------------------------------------------------------------------------------------


def chance_inside(families, k):
    """The chance that a normal draw lies in the range R of `families` others, widened by k * R on
    both sides. It lies above if the others, in one of their orders, and the draw meet two (or
    three) linear inequalities. The chance of that is the angle between two (three) planes."""
    q = math.sqrt(2) * math.sqrt((1 + k) ** 2 + k ** 2 + 1)
    if families == 2:
        above = 2 * (1 / 4 + math.asin(-(1 + 2 * k) / q) / (2 * math.pi))
    else:
        assert families == 3
        angles = math.asin(-1 / 2) + math.asin(-(1 + k) / q) + math.asin(-k / q)
        above = 6 * (1 / 8 + angles / (4 * math.pi))
    return 1 - 2 * above


def widening(families, chance):
    """The k for which chance_inside() is `chance`; 0 where the plain range has that chance."""
    least, most = 0, 100
    while most - least > 1e-9:
        k = (least + most) / 2
        least, most = (k, most) if chance_inside(families, k) < chance else (least, k)
    return most


def logit(share):
    share = min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)
    return math.log(share / (1 - share))


def widened(logits, chance, shift=0):
    """The range of `logits` after the rule, as shares; `shift` is added to both ends."""
    k = widening(len(logits), chance)
    least, most = min(logits), max(logits)
    ends = least - k * (most - least), most + k * (most - least)
    return [1 / (1 + math.exp(-(end + shift))) for end in ends]


def others(values, left_out):
    return [value for family, value in values.items() if family != left_out]


# ---- figures of recordings -----------------------------------------------------------------------


def cut(recording, out, first, end, layers=None):
    """Writes the steps of a recording from `first` up to `end`, or to the last if `end` is None, as
    a recording of its own: of `layers`, by their numbers in the file, or of all if that is None."""
    table = out.with_suffix('.csv')
    whole = out.with_suffix('.whole')
    with swt.Reader(recording) as trace, open(whole, 'w', encoding='utf-8') as lines:
        swt.export_csv(trace, lines)
    with open(whole, encoding='utf-8') as lines, open(table, 'w', encoding='utf-8') as kept:
        header = next(lines)
        steps = int(re.search(r'\bsteps=(\d+)', header)[1])
        end = steps if end is None else end
        numbers = range(int(re.search(r'\blayers=(\d+)', header)[1])) if layers is None else layers
        place = {str(layer): i for i, layer in enumerate(numbers)}
        header = re.sub(r'\bsteps=\d+', f'steps={end - first}', header)
        kept.write(re.sub(r'\blayers=\d+', f'layers={len(place)}', header))
        kept.write(next(lines) + next(lines))
        for line in lines:
            sequence, step, layer, rest = line.split(',', 3)
            if first <= int(step) < end and layer in place:
                kept.write(f'{sequence},{int(step) - first},{place[layer]},{rest}')
    whole.unlink()
    with open(table, encoding='utf-8') as lines:
        swt.import_csv(lines, str(table), str(out))
    table.unlink()
    return out


def model_layers(program, recording):
    """The layers of the model that a recording has, in the order of the file."""
    info = json.loads(subprocess.run([program, 'trace', 'info', recording, '--json'], check=True,
                                     capture_output=True).stdout)
    return info['source'].get('layers', list(range(info['layers'])))


def shared_layers(program, recording, other):
    """The numbers, in the file of `recording`, of the layers that `other` has."""
    mine = model_layers(program, recording)
    return [mine.index(layer) for layer in model_layers(program, other)]


def measure(program, recordings):
    """The figures of each recording. `trace fit` measures them on each that it checks."""
    checks = [part for recording in recordings for part in ('--check', recording)]
    fitted = TRACES / 'gemma-3-270m.swt'  # the quickest; its own report is dropped
    report = subprocess.run([program, 'trace', 'fit', fitted, '--json', *checks], check=True,
                            capture_output=True, text=True).stdout
    return [{name: figure['recording'] for name, figure in json.loads(line).items()
             if isinstance(figure, dict) and not name.startswith('cosine')}
            for line in report.splitlines()[1:]]


def by_family(program, recordings):
    """{figure: {family: value}} of {family: recording}."""
    measured = dict(zip(recordings, measure(program, recordings.values())))
    return {name: {family: measured[family][name] for family in recordings}
            for name in measured['gemma-3-270m']}


# ---- tables --------------------------------------------------------------------------------------


def percent(share):
    return f'{100 * share:.1f}'


def range_text(ends):
    return '–'.join(percent(end) for end in ends)


def width(ends):
    return ends[1] - ends[0]


def spread(values):
    return max(values.values()) - min(values.values())


def holds(ends, value):
    return ends[0] <= value <= ends[1]


def marked(text, is_held):
    return text if is_held else f'**{text}**'


def print_row(*cells):
    print('| ' + ' | '.join(cells) + ' |')


def print_head(*cells):
    print_row(*cells)
    print('|---' * len(cells) + '|')


def from_others(values, family, chance=CHANCE):
    """What the other families say of `family`, by the rule."""
    return widened([logit(value) for value in others(values, family)], chance)


def print_left_out(figures):
    """Each family's figure beside the range that the other two give; bold outside."""
    print_head('figure', *FAMILIES.values(), 'width', 'all three', 'for 2 in 3')
    for name, values in figures.items():
        ranges = {family: from_others(values, family) for family in FAMILIES}
        logits = [logit(value) for value in values.values()]
        cells = [marked(f'{percent(values[family])} ({range_text(ranges[family])})',
                        holds(ranges[family], values[family])) for family in FAMILIES]
        ratio = statistics.median(width(ends) / spread(values) for ends in ranges.values())
        print_row(f'`{name}`', *cells, f'{ratio:.1f}', range_text(widened(logits, CHANCE)),
                  range_text(widened(logits, 2 / 3)))


def print_misses(figures):
    """The figures that the other two families do not hold, by name."""
    for family, title in FAMILIES.items():
        missed = [f'`{name}`' for name, values in figures.items()
                  if not holds(from_others(values, family), values[family])]
        print(f'- {title}, {len(missed)} of {len(figures)}: {", ".join(missed)}')


def print_chances(texts):
    """How many figures each chance holds, by text; and how wide it is."""
    print_head('chance', 'k(2), k(3)', *(f'{text}: held, width' for text in texts))
    for chance, label in CHANCES.items():
        cells = []
        for figures in texts.values():
            cases = [(from_others(values, family, chance), values[family], spread(values))
                     for values in figures.values() for family in FAMILIES]
            held = sum(holds(ends, value) for ends, value, _ in cases)
            ratio = statistics.median(width(ends) / all_three for ends, _, all_three in cases)
            cells.append(f'{held} of {len(cases)}, {ratio:.2f}')
        print_row(label, f'{widening(2, chance):.2f}, {widening(3, chance):.2f}', *cells)


def from_own(own, target, family):
    """What 32 steps of the model itself say, by the rule: its own figure, changed as the other
    families' figures change."""
    changes = [logit(after) - logit(before)
               for before, after in zip(others(own, family), others(target, family))]
    return widened(changes, CHANCE, shift=logit(own[family]))


def own_cells(own, target):
    """How far 32 steps of each model itself are off; widths without and with them; the factor."""
    off, without, within, factors = [], [], [], []
    for family in FAMILIES:
        ends = from_own(own, target, family)
        off.append(marked(f'{round(100 * (own[family] - target[family]), 1) + 0:+.1f}',
                          holds(ends, target[family])))
        without.append(width(from_others(target, family)))
        within.append(width(ends))
        factors.append(within[-1] / without[-1])
    return (', '.join(off),
            ' → '.join(percent(statistics.median(widths)) for widths in (without, within)),
            f'{statistics.median(factors):.2f}')


def print_own(pairs):
    """`pairs`: (own, target) for later steps and for the other text."""
    print_head('figure', 'later steps: off', 'width', 'factor',
               'other text: off', 'width', 'factor')
    for name in pairs[0][0]:
        print_row(f'`{name}`', *(cell for own, target in pairs
                                 for cell in own_cells(own[name], target[name])))


def print_narrowing(title, own, targets):
    cases = [(own[name], targets[name], family) for name in targets for family in FAMILIES]
    with_own = [from_own(*case) for case in cases]
    without = [from_others(target, family) for _, target, family in cases]
    truths = [target[family] for _, target, family in cases]
    factors = [width(a) / width(b) for a, b in zip(with_own, without)]
    off = statistics.median(abs(before[family] - target[family])
                            for before, target, family in cases)
    print(f'{title}: the range narrows to {statistics.median(factors):.2f} of its width in the '
          f'median, and is wider in {sum(factor > 1 for factor in factors)} of {len(cases)}; '
          f'held: {sum(map(holds, without, truths))} without, '
          f'{sum(map(holds, with_own, truths))} with; '
          f'the own figures are off by {percent(off)} points in the median')


def print_example(name, pairs):
    """One figure of each family as if it were the user's model."""
    print_head('your model', 'later steps', 'without', 'with 32 steps', 'other text', 'without',
               'with 32 steps')
    for family, title in FAMILIES.items():
        cells = []
        for before, after in ((own[name], target[name]) for own, target in pairs):
            cells += [percent(after[family]), range_text(from_others(after, family)),
                      range_text(from_own(before, after, family))]
        print_row(title, *cells)


def cut_all(program, recordings, folder, first, end, layers_as=None):
    """The figures of the same cut of all recordings, whose layers are those of `layers_as`."""
    cuts = {}
    for family, recording in recordings.items():
        layers = layers_as and shared_layers(program, recording, layers_as[family])
        cuts[family] = cut(recording, folder / f'{family}.swt', first, end, layers)
    return by_family(program, cuts)


def main():
    program = Path(sys.argv[1] if len(sys.argv) > 1 else
                   TRACES.parent / 'build/spillway').resolve()
    manual = {family: TRACES / f'{family}.swt' for family in FAMILIES}
    code = {family: TRACES / f'{family}-code.swt' for family in FAMILIES}
    on_manual, on_code = by_family(program, manual), by_family(program, code)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        own = cut_all(program, manual, folder, 0, OWN_STEPS)
        later = cut_all(program, manual, folder, OWN_STEPS, None)
        own_layers = cut_all(program, manual, folder, 0, OWN_STEPS, layers_as=code)
    pairs = (own, later), (own_layers, on_code)
    print_left_out(on_manual)
    print()
    print_misses(on_manual)
    print()
    print_chances({'policy': on_manual, 'code': on_code})
    print()
    print_own(pairs)
    print()
    print_narrowing('Later steps', *pairs[0])
    print_narrowing('Other text', *pairs[1])
    print()
    print_example('lru_30', pairs)


if __name__ == '__main__':
    main()
