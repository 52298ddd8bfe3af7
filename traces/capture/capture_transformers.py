#!/usr/bin/env python3
"""Records a decode trace (.swt, see ../FORMAT.md) from a model of Hugging Face Transformers, on a
CPU or a GPU: for models that are too large for capture.py, or not in its format.

First the prefix is computed, unrecorded. Then each step decodes one token: the next one of the text
(--forced: natural and repeatable), or one drawn from the model's own distribution (--sample).

A model is refused if a layer shows no attention (recurrent layers, its own attention function), if
its layers differ in their heads, if its attention is not only weights that sum to 1 (learned sinks,
soft caps), if it has an encoder, or if it has multi-head latent attention, which has no KV heads.
Sliding windows are recorded: tokens outside a layer's window have no mass. --layers leaves out
layers without attention or with other heads; leave out those with sliding windows, too, whose KV an
offloading system does not move.
"""

import os
import sys

sys.dont_write_bytecode = True  # no __pycache__ among the traces
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from options import make_parser, parse, require_packages, run

PROGRAM = 'capture_transformers.py'
PACKAGES = {name: name for name in ('torch', 'transformers', 'numpy', 'xxhash', 'zstandard')}
EXAMPLE = f"""\
example:
  {PROGRAM} --model meta-llama/Meta-Llama-3-8B --device cuda \\
      --text book.txt --context 32768 --steps 384 -o llama-3-8b.swt
"""


def main():
    parser = make_parser(PROGRAM, 'a model of Transformers', 'MODEL', EXAMPLE)
    parser.add_argument('--device', default='cpu', metavar='DEVICE',
                        help='where it runs, as PyTorch calls it: cpu, cuda, cuda:1 (default cpu)')
    options = parse(parser)
    require_packages(PROGRAM, PACKAGES)
    from decode_transformers import capture

    run(capture, options)


if __name__ == '__main__':
    main()
