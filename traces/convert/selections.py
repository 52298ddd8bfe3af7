"""What the scripts of this folder share: the units that each layer wanted in each step, with assumed
masses, become a decode trace (.swt). A layer has one head.

An imported trace has no queries, and no window of sinks or recent tokens. Units behind the context
were born while decoding."""

import argparse
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
import swt

TILE_STEPS_MOST = 256
TILE_BYTES = 1 << 20  # target size of a frame


class Fault(Exception):
    """The file cannot be converted; says where and why."""


def positive(text):
    value = int(text)
    if not 0 < value <= swt.U32_MOST:
        raise ValueError
    return value


def parser(page, output):
    """Options that all formats have; `page` is the script's own docstring."""
    options = argparse.ArgumentParser(description=page,
                                      formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument('file')
    options.add_argument('-o', '--output', required=True, help=output)
    return options


def add_layout(options):
    options.add_argument('--context', type=positive, default=0, metavar='TOKENS',
                         help='tokens in the prefix; units beyond it were born while decoding')
    options.add_argument('--unit-tokens', type=positive, default=1, metavar='TOKENS')
    options.add_argument('--share', type=positive, default=1, metavar='COUNT',
                         help='layers of the model that share a layer of the file')


def check_output(path, source):
    """Refuse to write over the file that is read, under whatever name."""
    if os.path.exists(path) and os.path.samefile(path, source):
        raise Fault(f"--output: '{path}' is also the input and would be overwritten\n"
                    '  expected: another file')


def run(convert, options):
    """Convert; a fault is one message and exit status 1."""
    try:
        check_output(options.output, options.file)
        convert(options)
    except UnicodeDecodeError as why:
        sys.exit(f'{os.path.basename(sys.argv[0])}: {options.file}: not text: it has the byte '
                 f'0x{why.object[why.start]:02x}, which is not UTF-8\n'
                 '  expected: text in UTF-8, not compressed')
    except (Fault, swt.FormatError, OSError) as why:
        sys.exit(f'{os.path.basename(sys.argv[0])}: {why}')


def assume(units, rank):
    """The masses of units in the file's order: equal, or the r-th has 1/r of the first."""
    parts = [1 / (number + 1) if rank else 1 for number in range(len(units))]
    return [part / sum(parts) for part in parts]


def pack(wanted, end):
    """A row of the trace from pairs of a unit and its mass; units from `end` on were born."""
    kept = sorted(pair for pair in wanted if pair[0] < end)
    born = sum(mass for unit, mass in wanted if unit >= end)
    rest = 1 - sum(mass for _, mass in wanted)
    return swt.pack_row([unit for unit, _ in kept], map(swt.mass_code, (mass for _, mass in kept)),
                        min(born, 1.0), rest if rest > 1e-6 else 0.0)


def survey(shape, wanted):
    """The largest unit, plus 1."""
    steps, layers, _ = shape
    units = 1
    for step in range(steps):
        for layer in range(layers):
            row = wanted(step, layer)
            if len(set(row)) < len(row):
                twice = next(unit for unit in row if row.count(unit) > 1)
                raise Fault(f'step {step}, layer {layer} wants unit {twice} twice')
            units = max(units, max(row, default=0) + 1)
    return units


def header_of(name, shape, most, found, mass, options, **more):
    """`shape` is (steps, layers, heads), `most` the units of the longest row, `found` the largest unit
    plus 1. `name` is the format's; `more` is for the trace's source."""
    steps, layers, heads = shape
    end = -(-options.context // options.unit_tokens) or found
    keep = min(most, end)
    return swt.Header(
        layers=layers * options.share, kv_heads=heads, query_heads=heads, head_dim=1,
        context=options.context or end * options.unit_tokens, unit_kind=swt.POSITIONS,
        unit_tokens=options.unit_tokens, units=end, sinks=0, recent=0, keep=keep, sequences=1,
        steps=steps, steps_per_tile=max(1, min(TILE_STEPS_MOST, TILE_BYTES // (heads * (12 + 3 * most)))),
        flags=0, source={'method': 'imported', 'format': name, 'mass': mass,
                         'model': os.path.basename(options.file), **more})


def assumed(rank):
    return f"assumed: {'1/rank' if rank else 'equal'} in a row"


def write_rows(path, header, share, row):
    """Write the trace; row(step, layer, head) gives a packed row of a layer of the file."""
    with swt.Writer(path, header) as trace:
        for tile in range(header.tiles):
            first = tile * header.steps_per_tile
            steps = range(first, first + header.tile_steps(tile))
            for layer in range(header.layers // share):
                rows = [row(step, layer, head) for head in range(header.kv_heads) for step in steps]
                for _ in range(share):
                    trace.put(rows)


def write(path, name, shape, wanted, options, rank=False, **more):
    """Write the trace. `shape` is (steps, layers, most units of a row); wanted(step, layer) gives a
    row's units, the heaviest first. It is asked for each row twice, and raises Fault."""
    steps, layers, most = shape
    header = header_of(name, (steps, layers, 1), most, survey(shape, wanted), assumed(rank), options,
                       **more)

    def row(step, layer, _):
        units = wanted(step, layer)
        return pack(list(zip(units, assume(units, rank))), header.units)

    write_rows(path, header, options.share, row)
