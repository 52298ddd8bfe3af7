"""What a recording takes, told before it begins: memory from the header of the model, disk from
that of the trace, and time from a few tokens. The times are rough: they grow from these tokens as
operations and bytes do.
"""

import os
import sys
import time

import numpy as np

import swt
from progress import duration
from rows import pack

UNIT_BYTES = 1.15          # of a kept unit in a compressed trace, as recordings have it
PROGRAM_BYTES = 192 << 20  # Python, its packages, rows of a tile, llama.cpp's small buffers
REHEARSED = 3              # tokens decoded one by one


def say(text):
    print(text, file=sys.stderr, flush=True)


def size(count):
    return f'{count / 2 ** 30:.1f} GiB' if count >= 2 ** 30 else f'{count / 2 ** 20:.0f} MiB'


# ---- memory --------------------------------------------------------------------------------------


def memory_parts(model, tokens, context, asks):
    """Bytes at most, by what they hold. llama.cpp reserves one buffer for a batch: the logits take
    the place of the attention weights."""
    cell = model.layers * model.kv_heads * (model.key_size + model.value_size)  # numbers a token
    batch = model.batch_of(tokens) * 4 * max(tokens * model.query_heads, model.vocab_size)
    keys = context * model.layers * model.kv_heads * model.key_size if asks else 0
    return {'weights': model.weight_bytes, 'KV': 2 * cell * tokens, 'a batch': batch,
            'keys for the retrieval': 2 * keys, 'the program': PROGRAM_BYTES}


def say_memory(model, tokens, context, asks):
    parts = memory_parts(model, tokens, context, asks)
    needed, free = sum(parts.values()), free_bytes()
    named = ', '.join(f'{name} {size(count)}' for name, count in parts.items() if count)
    warning = f', but only {size(free)} are free' if needed > free else ''
    say(f'memory: at most {size(needed)} ({named}){warning}')


def free_bytes():
    """Memory that the system can give, that of cached files included."""
    try:
        with open('/proc/meminfo') as file:
            lines = dict(line.split(':') for line in file)
        return int(lines['MemAvailable'].split()[0]) << 10
    except (OSError, KeyError):
        return os.sysconf('SC_AVPHYS_PAGES') * os.sysconf('SC_PAGE_SIZE')


# ---- disk ----------------------------------------------------------------------------------------


def trace_bytes(header):
    """Of the finished file, at most: heads with sliding windows keep fewer units."""
    window = header.units - (header.window[1] - header.window[0])
    rows = header.steps * header.layers * header.kv_heads
    rows *= 2 if header.flags & swt.HAS_APPROXIMATE else 1
    queries = header.steps * header.layers * header.query_heads * (header.head_dim + 4)
    return rows * (header.keep + window) * UNIT_BYTES + queries


# ---- time ----------------------------------------------------------------------------------------


def row_seconds(header, asks):
    """To make the rows of one layer, from masses drawn at random."""
    mass = np.random.default_rng(1).exponential(size=header.units) ** 3
    start = time.monotonic()
    for _ in range(header.kv_heads):
        pack(mass / mass.sum(), 0.0, header)
    return (time.monotonic() - start) * (2 if asks else 1)


def say_time(model, prefix, header, asks):
    """Decodes the first batch and a few tokens, then forgets them."""
    first = prefix[:model.batch]
    start = time.monotonic()
    model.decode(first)
    batched = time.monotonic()
    for token in first[:REHEARSED]:
        model.decode([token])
    batch_s, token_s = batched - start, (time.monotonic() - batched) / len(first[:REHEARSED])
    model.forget()
    weights = 2 * model.parameters  # operations a token, besides those of attention:
    attention = 4 * model.layers * model.query_heads * model.key_size  # a token before it
    prefix_s = (batch_s * len(prefix) / len(first) * (weights + attention * len(prefix) / 2) /
                (weights + attention * len(first) / 2))
    cell = 2 * model.layers * model.kv_heads * (model.key_size + model.value_size)
    step_s = (token_s * (1 + cell * len(prefix) / model.weight_bytes) +
              header.layers * row_seconds(header, asks))
    say(f'time: about {duration(prefix_s)} for the prefix and {duration(header.steps * step_s)} for '
        f'{header.steps} steps; the trace: {trace_bytes(header) / 1e6:.1f} MB at most')
