#!/usr/bin/env python3
"""Writes a GGUF model with random weights in 4 bits, to try what a recording of a model of that shape takes.

Time, memory and resuming depend on shapes alone; what the recording then holds means nothing. Without options the shape
is that of Llama-3.1-8B. The tokenizer, and with it the size of the vocabulary, is that of another GGUF model.
"""

import argparse
import os
import sys

sys.dont_write_bytecode = True  # no __pycache__ among the traces
from options import Refusal, integer, require_packages, run

BLOCK = 32                # weights that share a scale in Q4_0
BLOCK_BYTES = 2 + BLOCK // 2
SCALE = 0.0043            # levels are -8 ... 7, so the weights deviate by 0.02 from 0
COPIED = 'tokenizer.'


def random_blocks(random, rows, columns):
    """Weights [rows, columns] as llama.cpp stores Q4_0: a scale in 16 bits, then 32 numbers of 4 bits."""
    import numpy as np

    blocks = random.integers(0, 256, (rows, columns // BLOCK, BLOCK_BYTES), np.uint8)
    blocks[..., :2] = np.array([SCALE], np.float16).view(np.uint8)
    return blocks.reshape(rows, -1)


def shapes(options, vocab):
    """The tensors of a Llama model by name: (rows, columns), or (columns,) of a norm."""
    hidden, inner = options.hidden, options.intermediate
    head = hidden // options.heads
    yield 'token_embd.weight', (vocab, hidden)
    for layer in range(options.layers):
        of = f'blk.{layer}.'
        yield of + 'attn_norm.weight', (hidden,)
        yield of + 'attn_q.weight', (hidden, hidden)
        yield of + 'attn_k.weight', (options.kv_heads * head, hidden)
        yield of + 'attn_v.weight', (options.kv_heads * head, hidden)
        yield of + 'attn_output.weight', (hidden, hidden)
        yield of + 'ffn_norm.weight', (hidden,)
        yield of + 'ffn_gate.weight', (inner, hidden)
        yield of + 'ffn_up.weight', (inner, hidden)
        yield of + 'ffn_down.weight', (hidden, inner)
    yield 'output_norm.weight', (hidden,)
    yield 'output.weight', (vocab, hidden)


def read_fields(path):
    """What the header of a GGUF model says, by key."""
    import gguf
    from gguf_model import check_gguf

    check_gguf(path)
    try:
        return gguf.GGUFReader(path).fields
    except (ValueError, IndexError, KeyError) as why:
        raise Refusal(f"'{path}' is not a whole GGUF model: {why}")


def copy_tokenizer(fields, writer):
    """Returns the size of its vocabulary."""
    vocab = 0
    for name, field in fields.items():
        if name.startswith(COPIED):
            value = field.contents()
            writer.add_key_value(name, value, field.types[0], field.types[-1] if len(field.types) > 1 else None)
            vocab = max(vocab, len(value) if name.endswith('.tokens') else 0)
    return vocab


def write(options):
    import gguf
    import numpy as np

    fields = read_fields(options.tokenizer)
    writer = gguf.GGUFWriter(options.output, 'llama')
    vocab = copy_tokenizer(fields, writer)
    writer.add_vocab_size(vocab)
    writer.add_context_length(options.context)
    writer.add_embedding_length(options.hidden)
    writer.add_block_count(options.layers)
    writer.add_feed_forward_length(options.intermediate)
    writer.add_head_count(options.heads)
    writer.add_head_count_kv(options.kv_heads)
    writer.add_rope_dimension_count(options.hidden // options.heads)
    writer.add_layer_norm_rms_eps(1e-5)
    tensors = list(shapes(options, vocab))
    for name, shape in tensors:
        if len(shape) == 1:
            writer.add_tensor_info(name, shape, np.dtype(np.float32), 4 * shape[0])
        else:
            rows, row_bytes = shape[0], shape[1] // BLOCK * BLOCK_BYTES
            writer.add_tensor_info(name, (rows, row_bytes), np.dtype(np.uint8), rows * row_bytes,
                                   gguf.GGMLQuantizationType.Q4_0)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_ti_data_to_file()
    random = np.random.default_rng(1)
    for _, shape in tensors:
        writer.write_tensor_data(np.ones(shape, np.float32) if len(shape) == 1 else random_blocks(random, *shape))
    writer.close()


def main():
    parser = argparse.ArgumentParser(prog='random_model.py', description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add('--tokenizer', required=True, metavar='M.gguf', help='the model whose tokenizer is copied')
    add('--layers', type=integer(1), default=32, metavar='N')
    add('--hidden', type=integer(BLOCK), default=4096, metavar='N', help='a multiple of 32 and of the query heads')
    add('--intermediate', type=integer(BLOCK), default=14336, metavar='N', help='a multiple of 32')
    add('--heads', type=integer(1), default=32, metavar='N', help='query heads')
    add('--kv-heads', type=integer(1), default=8, metavar='N')
    add('--context', type=integer(1), default=131072, metavar='N', help='tokens that it claims to be trained for')
    add('-o', dest='output', required=True, metavar='FILE.gguf')
    options = parser.parse_args()
    options.program = parser.prog
    if options.hidden % BLOCK or options.intermediate % BLOCK or options.hidden % options.heads:
        parser.error('--hidden must be a multiple of 32 and of --heads, --intermediate one of 32')
    require_packages(parser.prog, {'gguf': 'gguf', 'llama_cpp': 'llama-cpp-python', 'numpy': 'numpy'})
    run(write, options)


if __name__ == '__main__':
    main()
