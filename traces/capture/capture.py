#!/usr/bin/env python3
"""Records a decode trace (.swt, see ../FORMAT.md) from any GGUF model, on the CPU.

First the prefix is computed, unrecorded. Then each step decodes one token: the next one of the text
(--forced: natural and repeatable), or one drawn from the model's own distribution (--sample).

Refused are models of which some layer shows no attention (recurrent layers, nodes of other names),
whose layers differ in their heads, whose attention weights do not sum to 1 (learned sinks, as in
GPT-OSS), with an encoder, or with multi-head latent attention, which has no KV heads. Sliding
windows are recorded: tokens outside a layer's window have no mass.
"""

import argparse
import importlib.util
import os
import sys

PACKAGES = {'llama_cpp': 'llama-cpp-python', 'numpy': 'numpy', 'xxhash': 'xxhash',
            'zstandard': 'zstandard'}
EXAMPLE = """\
example:
  capture.py --model SmolLM2-135M-Instruct.Q4_1.gguf \\
      --text /usr/share/doc/debian-policy/policy.txt.gz \\
      --context 3840 --steps 64 -o smollm2.swt
"""


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


UNITS = {'token': 1, 'page': 16, 'cluster': 16, 'code': 256}  # and their size where none is said


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


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog='capture.py', description='Records a decode trace from a GGUF model.', epilog=EXAMPLE,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('--model', required=True, metavar='M.gguf', help='the model')
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
    add('--seed', type=integer(0), default=1, metavar='N', help='of --sample (default 1)')
    add('-o', dest='output', required=True, metavar='FILE.swt', help='the trace to write')
    options = parser.parse_args()
    middle = options.context - options.sinks - options.recent
    if middle < 1:
        parser.error(f'--context {options.context} leaves nothing outside --sinks {options.sinks} '
                     f'and --recent {options.recent}')
    return options


def require_packages():
    missing = [PACKAGES[name] for name in PACKAGES if importlib.util.find_spec(name) is None]
    if missing:
        sys.exit(f'capture.py: Python packages are missing\n'
                 f'  expected: pip install {" ".join(missing)}')


def main():
    options = parse_arguments()
    require_packages()
    sys.dont_write_bytecode = True  # no __pycache__ among the traces
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
    from recorder import Refusal, capture

    try:
        capture(options)
    except Refusal as why:
        sys.exit(f'capture.py: {why}')
    except OSError as why:
        sys.exit(f"capture.py: cannot write '{options.output}': {why.strerror}")
    except KeyboardInterrupt:
        sys.exit('capture.py: interrupted, nothing written')


if __name__ == '__main__':
    main()
