#!/usr/bin/env python3
"""A table with a line for each wanted unit, or a plain stream of ids, becomes a decode trace.

    traces/convert/table.py pages.csv --columns step=time,layer=1,unit=page -o pages.swt
    traces/convert/table.py ids.u32 -o ids.swt

--columns says what the columns of a table are, by the names of its first line, or all by number from 1
if it has no such line. Only `unit` is required. Without `layer` or `head` the file has one of them;
without `step`, --per-step lines make one. Steps ascend by one; the first may have any number.

A stream (.u32) is little-endian 32-bit ids, one after the other, for one head of one layer. A unit that
occurs twice in a step has the mass of both. The file is read twice, and memory holds one tile.
"""

import csv
import itertools
import os
import struct

import selections
import swt
from selections import Fault

NAMES = ('step', 'layer', 'head', 'unit', 'mass')
SUM_MOST = 1.05  # masses that went through 8-bit codes can add up to 3.5 % more than before


def parse_columns(text):
    """{'unit': 'page', ...}, and whether these are numbers."""
    columns = {}
    for pair in text.split(','):
        key, _, value = pair.partition('=')
        if not value or key not in NAMES or key in columns:
            raise Fault(f"--columns: '{pair}'\n  expected: each of {', '.join(NAMES)} at most once, as "
                        'in step=1,unit=2 or step=time,unit=page')
        columns[key] = value
    if 'unit' not in columns:
        raise Fault('--columns names no column for the unit')
    numbers = [value.isdigit() for value in columns.values()]
    if any(numbers) and not all(numbers):
        raise Fault('--columns mixes names and numbers')
    return columns, all(numbers)


def find_columns(columns, first):
    """The place of each column in a line, by the names of the first line."""
    for name in columns.values():
        if name not in first:
            commas = '\n  expected: columns between commas' if len(first) == 1 else ''
            raise Fault(f"no column '{name}' in: {','.join(first)}{commas}")
    return {key: first.index(name) for key, name in columns.items()}


def whole(text):
    if not (text.isascii() and text.isdigit() and int(text) < swt.U32_MOST):
        raise Fault(f"'{text}' is not a whole number below {swt.U32_MOST}")
    return int(text)


def mass_of(text):
    mass = float(text) if swt.REAL.fullmatch(text) else -1
    if not 0 <= mass <= swt.MASS_MOST:
        raise Fault(f"'{text}' is not a mass\n  expected: a share of a head's attention in its step, from "
                    '0 to 1: divide scores by their sum (after exp(), if they are logits), or leave '
                    "'mass' out and use --mass rank")
    return mass


def read_table(options):
    """(step or None, (layer, head), unit, mass or None) of each line."""
    columns, numbered = parse_columns(options.columns)
    if 'step' in columns and options.per_step:
        raise Fault('--per-step, but --columns has a column for steps')
    place = {key: int(value) - 1 for key, value in columns.items()} if numbered else None
    with open(options.file, encoding='utf-8-sig', newline='') as file:
        lines, fields = csv.reader(file, strict=True), 0
        try:
            for line in lines:
                if place is None:
                    place, fields = find_columns(columns, line), len(line)
                    options.unread = [name for name in NAMES if name in line and name not in columns
                                      and name not in columns.values()]
                    continue
                fields = fields or len(line)
                if len(line) != fields or not all(0 <= at < fields for at in place.values()):
                    raise Fault(f'{len(line)} fields')
                step, layer, head, unit = (whole(line[place[key]]) if key in place else 0
                                           for key in NAMES[:4])
                yield (step if 'step' in place else None, (layer, head), unit,
                       mass_of(line[place['mass']]) if 'mass' in place else None)
        except UnicodeDecodeError:
            raise  # run() names the file; a decoder reads ahead and knows no line
        except (Fault, csv.Error, ValueError) as why:
            raise Fault(f'{options.file}:{lines.line_num}: {why}')


def read_stream(options):
    size = os.path.getsize(options.file)
    if size % 4:
        raise Fault(f'{options.file}: {size} bytes\n  expected: ids of 4 bytes')
    with open(options.file, 'rb') as file:
        while block := file.read(1 << 16):
            for unit, in struct.iter_unpack('<I', block):
                if unit == swt.U32_MOST:
                    raise Fault(f'{options.file}: id {unit} is too large')
                yield None, (0, 0), unit, None


def read_steps(options):
    """Each step: {(layer, head): [(unit, mass), ...]}, in the file's order."""
    before, step, count = None, None, 0
    for number, key, unit, mass in (read_stream if options.stream else read_table)(options):
        begins = number != before if number is not None else count % (options.per_step or 1) == 0
        if begins and count and number is not None and number != before + 1:
            raise Fault(f'{options.file}: step {number} after step {before}')
        if begins and count:
            yield step
        step = {} if begins else step
        step.setdefault(key, []).append((unit, mass))
        before, count = number, count + 1
    if not count:
        raise Fault(f'{options.file}: an empty file')
    yield step


def make_row(items, options):
    """Pairs of a unit and its mass: masses are assumed if the file has none, and of a stream those of a
    unit that occurs twice are added up."""
    if items and items[0][1] is None:
        units = [unit for unit, _ in items]
        items = list(zip(units, selections.assume(units, options.mass == 'rank')))
    if sum(mass for _, mass in items) > SUM_MOST:
        raise Fault('masses add up to more than 1: divide the scores of a row by their sum (after exp(), '
                    'if they are logits)')
    row = {}
    for unit, mass in items:
        if unit in row and not options.stream:
            raise Fault(f'wants unit {unit} twice')
        row[unit] = row.get(unit, 0) + mass
    return list(row.items())


def survey(options):
    """(steps, layers, heads), the units of the longest row, and the largest unit plus 1."""
    steps, most, units, seen = 0, 0, 0, set()
    end = -(-options.context // options.unit_tokens) or swt.U32_MOST
    for steps, step in enumerate(read_steps(options), 1):
        seen.update(step)
        for (layer, head), items in step.items():
            try:
                row = make_row(items, options)
            except Fault as why:
                raise Fault(f'{options.file}: step {steps - 1}, layer {layer}, head {head}: {why}')
            most = max(most, sum(unit < end for unit, _ in row))
            units = max(units, 1 + max(unit for unit, _ in row))
    layers, heads = (1 + max(key[axis] for key in seen) for axis in (0, 1))
    if len(seen) < layers * heads:
        key = next(key for key in itertools.product(range(layers), range(heads)) if key not in seen)
        raise Fault(f'{options.file}: layer %d, head %d has no row in the file\n  expected: layers and '
                    'heads numbered from 0 without a gap' % key)
    return (steps, layers, heads), most, units


def convert(options):
    options.stream, options.unread = options.file.endswith('.u32'), []
    if not options.stream and not options.columns:
        raise Fault('--columns is missing; for example step=A,layer=B,head=C,unit=D')
    shape, most, units = survey(options)
    if options.unread:
        print(f'not in --columns, so not read: {", ".join(options.unread)}')
    stated = 'mass=' in (options.columns or '')
    header = selections.header_of(
        'u32' if options.stream else 'csv', shape, most, units,
        'recorded' if stated else selections.assumed(options.mass == 'rank'), options)
    again, tile = read_steps(options), {}

    def row(step, layer, head):
        if step not in tile:
            tile.clear()
            tile.update(zip(range(step, step + header.steps_per_tile), again))
        return selections.pack(make_row(tile[step].get((layer, head), []), options), header.units)

    selections.write_rows(options.output, header, options.share, row)


def main():
    options = selections.parser(__doc__, 'the trace to write (.swt)')
    selections.add_layout(options)
    options.add_argument('--columns', metavar='MAPPING', help='step=A,layer=B,head=C,unit=D,mass=E')
    options.add_argument('--per-step', type=selections.positive, metavar='COUNT',
                         help='lines, or ids of a stream, that make a step (default: 1)')
    options.add_argument('--mass', choices=['equal', 'rank'], default='equal',
                         help='attention to assume if the file has none (default: equal)')
    selections.run(convert, options.parse_args())


if __name__ == '__main__':
    main()
