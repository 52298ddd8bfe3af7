#!/usr/bin/env python3
"""Records a decode trace (.swt, see ../FORMAT.md) from any GGUF model, on the CPU.

First the prefix is computed, unrecorded. Then each step decodes one token: the next one of the text
(--forced: natural and repeatable), or one drawn from the model's own distribution (--sample).

A model is refused if a layer shows no attention (recurrent layers, nodes of other names), if its
layers differ in their heads, if its attention weights do not sum to 1 (learned sinks, as in
GPT-OSS), if it has an encoder, or if it has multi-head latent attention, which has no KV heads.
Sliding windows are recorded: tokens outside a layer's window have no mass. --layers leaves out any
of these layers; leave out those with sliding windows, whose KV an offloading system does not move.
"""

import os
import sys

sys.dont_write_bytecode = True  # no __pycache__ among the traces
sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from options import make_parser, parse, require_packages, run

PACKAGES = {'llama_cpp': 'llama-cpp-python', 'numpy': 'numpy', 'xxhash': 'xxhash',
            'zstandard': 'zstandard'}
EXAMPLE = """\
example:
  capture.py --model SmolLM2-135M-Instruct.Q4_1.gguf \\
      --text /usr/share/doc/debian-policy/policy.txt.gz \\
      --context 3840 --steps 64 -o smollm2.swt
"""


def main():
    options = parse(make_parser('capture.py', 'a GGUF model', 'M.gguf', EXAMPLE))
    require_packages('capture.py', PACKAGES | ({'gguf': 'gguf'} if options.speculate else {}))
    from decode_gguf import capture

    run(capture, options)


if __name__ == '__main__':
    main()
