"""The command lines of the capture scripts, and how the scripts end.

Both scripts share most options; each adds its own. Standard library only, so that a script can say
which packages are missing.
"""

import argparse
import importlib.util
import os
import sys


class Refusal(Exception):
    """The user's request cannot be carried out; the text says why."""


def percent(text):
    """'20%' as 20.0."""
    try:
        value = float(text.removesuffix('%'))
    except ValueError:
        value = 0
    if not text.endswith('%') or not 0 < value <= 100:
        raise argparse.ArgumentTypeError(f"'{text}' is not a share of the context; expected a "
                                         "number above 0 and up to 100 with '%', as in '20%'")
    return value


UNITS = {'token': 1, 'page': 16, 'cluster': 16, 'code': 256}  # and their default size


def unit(text):
    """'cluster:16' as ('cluster', 16)."""
    kind, _, size = text.partition(':')
    try:
        value = int(size) if size else UNITS.get(kind, 0)
    except ValueError:
        value = 0
    if kind not in UNITS or value < 1 or (kind == 'token' and value != 1):
        raise argparse.ArgumentTypeError(f"'{text}'; expected token, page:16, cluster:16 or code:256")
    return kind, value


def integer(least):
    def convert(text):
        try:
            value = int(text)
        except ValueError:
            value = least - 1
        if value < least:
            raise argparse.ArgumentTypeError(f"'{text}'; expected an integer of at least {least}")
        return value
    return convert


def layer_list(text):
    """'5,11,17' as [5, 11, 17]."""
    try:
        layers = [int(part) for part in text.split(',')]
    except ValueError:
        layers = []
    if not layers or layers[0] < 0 or any(b <= a for a, b in zip(layers, layers[1:])):
        raise argparse.ArgumentTypeError(f"'{text}'; expected ascending numbers from 0, as in "
                                         '5,11,17')
    return layers


def make_parser(program, model, metavar, example):
    """The options of both scripts; `model` describes --model."""
    parser = argparse.ArgumentParser(
        prog=program, description=f'Records a decode trace from {model}.', epilog=example,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('--model', required=True, metavar=metavar, help='the model')
    add('--text', required=True, metavar='FILE', help='what it reads: UTF-8, may be gzipped')
    add('--offset', type=integer(0), default=0, metavar='BYTES',
        help='where in the (decompressed) text to start (default 0)')
    add('--context', type=integer(1), required=True, metavar='N',
        help='tokens of the prefix, before the first step')
    add('--steps', type=integer(2), required=True, metavar='S', help='decode steps to record')
    method = parser.add_mutually_exclusive_group()
    method.add_argument('--forced', dest='method', action='store_const', const='forced',
                        default='forced', help='decode the tokens of the text (default)')
    method.add_argument('--sample', dest='method', action='store_const', const='sampled',
                        help='decode tokens drawn from the model')
    add('--keep', type=percent, default='20%', metavar='SHARE',
        help='share of the units kept in a row, besides the window (default 20%%)')
    add('--sinks', type=integer(0), default=4, metavar='N',
        help='first tokens of the prefix, in every row (default 4)')
    add('--recent', type=integer(0), default=64, metavar='N',
        help='last tokens of the prefix, in every row (default 64)')
    add('--unit', type=unit, default='token', metavar='KIND:SIZE',
        help='token, page:16 (tokens, as Quest fetches), cluster:16 (tokens on average, as RetroInfer), '
             'code:256 (tokens found by random bits, as HATA by learned ones); the last three '
             'also record what that retrieval asks for (default token)')
    add('--speculate', choices=['previous-layer'],
        help='also record what is asked for a layer ahead, with the query that comes of the '
             "previous layer's input")
    add('--layers', type=layer_list, metavar='LIST',
        help='record only these layers, numbered from 0, as in 5,11,17 (default: all)')
    add('--no-queries', dest='queries', action='store_false',
        help="leave out the queries, which 'trace fit' and policies that reuse sets need")
    add('--threads', type=integer(1), metavar='N',
        help='threads of the model (default: one a core)')
    add('--seed', type=integer(0), default=1, metavar='N', help='of --sample (default 1)')
    add('-o', dest='output', required=True, metavar='FILE.swt', help='the trace to write')
    return parser


def parse(parser):
    options = parser.parse_args()
    options.program = parser.prog
    if options.context - options.sinks - options.recent < 1:
        parser.error(f'--context {options.context} leaves nothing outside --sinks {options.sinks} '
                     f'and --recent {options.recent}')
    return options


def require_packages(program, packages):
    """Ends the script if one of `packages` (a dict from module to PyPI name) is not installed."""
    missing = [name for module, name in packages.items()
               if importlib.util.find_spec(module) is None]
    if missing:
        sys.exit(f'{program}: Python packages are missing\n'
                 f'  expected: pip install {" ".join(missing)}')


def run(capture, options):
    """Runs the script as its command line says, and ends it with a message if that is not
    possible."""
    try:
        capture(options)
    except Refusal as why:
        sys.exit(f'{options.program}: {why}')
    except OSError as why:
        sys.exit(f"{options.program}: cannot write '{options.output}': {why.strerror}")
    except KeyboardInterrupt:
        kept = os.path.exists(f'{options.output}.part')
        sys.exit(f'{options.program}: interrupted' +
                 ('; the same command goes on from there' if kept else ', nothing written'))
