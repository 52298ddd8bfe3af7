"""Records the attention of decoded tokens as frames of a decode trace.

The mass of a KV head is the mean over its query heads. Only one tile of steps is held in memory, and
the keys of the prefix if the units have a retrieval (units.py).
"""

import gzip
import os
import shlex
import sys
import time
import zlib
from dataclasses import dataclass

import numpy as np

import swt
from attention import Model, Refusal
from rows import pack, pack_asked
from units import KINDS

STEPS_PER_TILE = 16
MAX_SUM_ERROR = 1e-3  # of attention weights


# ---- what a model can be recorded as -------------------------------------------------------------


@dataclass
class Geometry:
    layers: int
    kv_heads: int
    query_heads: int
    head_dim: int


def check_model(model, tokens):
    architecture = model.metadata('general.architecture')
    if model.metadata(f'{architecture}.attention.kv_lora_rank'):
        raise Refusal(f"'{model.path}' has multi-head latent attention: no KV heads to record")
    if model.has_encoder:
        raise Refusal(f"'{model.path}' has an encoder; only decoders can be recorded")
    if tokens > model.trained_context:
        raise Refusal(f'--context and --steps need {tokens} tokens, but the model was trained on '
                      f'{model.trained_context}')


def measure_geometry(model, token):
    """The shape of the attention, found by decoding `token` once; every layer must have it."""
    seen = {}

    def see(layer, query, weights, kv_heads):
        seen[layer] = (kv_heads, len(query), len(weights)), query.shape[-1]

    model.probe.see = see
    model.decode([token])
    model.probe.see = None
    model.forget()
    architecture = model.metadata('general.architecture')
    for layer in range(model.layers):
        if layer not in seen:
            raise Refusal(f"layer {layer} of '{model.path}' shows no attention: its architecture "
                          f"('{architecture}') has no Qcur, Kcur and kq_soft_max nodes there")
        heads, head_dim = seen[layer]
        if heads != (model.kv_heads, model.query_heads, model.query_heads):
            raise Refusal(f'layer {layer} has {heads[0]} KV heads and {heads[1]} query heads, the '
                          f'first {model.kv_heads} and {model.query_heads}: they must be the same')
        if head_dim != seen[0][1]:
            raise Refusal(f'layer {layer} has head dimension {head_dim}, the first {seen[0][1]}')
    return Geometry(model.layers, model.kv_heads, model.query_heads, head_dim)


# ---- rows ----------------------------------------------------------------------------------------


class Recorder:
    """Turns the attention of decoded tokens into frames. A tile of packed rows is held."""

    def __init__(self, writer, units):
        self.writer = writer
        self.header = writer.header
        self.units = units
        self.start_tile()

    def start_tile(self):
        self.rows = [[] for _ in range(self.header.layers)]  # of a layer, of a step: a row a head
        self.asked = [[] for _ in range(self.header.layers)]
        self.scale = [[] for _ in range(self.header.layers)]
        self.query = [[] for _ in range(self.header.layers)]

    def see(self, layer, query, weights, kv_heads):
        sums = weights.sum(axis=1, dtype=np.float64)
        if not np.abs(sums - 1).max() < MAX_SUM_ERROR:
            raise Refusal(f'layer {layer}: attention weights of a head sum to {sums.min():.4f} … '
                          f'{sums.max():.4f}, expected 1; learned sinks cannot be recorded')
        mass = weights.reshape(kv_heads, -1, weights.shape[-1]).mean(axis=1, dtype=np.float64)
        self.rows[layer].append([pack(*self.units_of(layer, head, mass[head]), self.header)
                                 for head in range(kv_heads)])
        if self.units.asks:
            groups = np.split(query, kv_heads)
            self.asked[layer].append([pack_asked(self.units.score(layer, head, groups[head]),
                                                 self.header) for head in range(kv_heads)])
        scale, values = quantize(query)
        self.scale[layer].append(scale)
        self.query[layer].append(values)

    def units_of(self, layer, head, mass):
        """Mass of each unit, and of what is in none, from that of each cell of the cache."""
        prefix, born = mass[:self.header.context], mass[self.header.context:].sum()
        units, rest = self.units.fold(layer, head, prefix)
        return units, born + rest

    def finish_step(self, step):
        if (step + 1) % self.header.steps_per_tile == 0 or step + 1 == self.header.steps:
            for rows, asked, scale, query in zip(self.rows, self.asked, self.scale, self.query):
                self.writer.put(by_head(rows), np.stack(scale, axis=1).ravel().tolist(),
                                np.stack(query, axis=1).tobytes(),
                                by_head(asked) if self.units.asks else None)
            self.start_tile()


def by_head(rows):
    """Head by head, step by step, from step by step, head by head."""
    return [row for head in zip(*rows) for row in head]


def quantize(query):
    """Scale [query heads] and int8 [query heads, head dim] with query = scale · value."""
    scale = np.abs(query).max(axis=1) / np.float32(127)
    values = np.rint(query / np.where(scale > 0, scale, 1)[:, None])
    return scale, values.astype(np.int8)


def prefill(model, tokens):
    """Decodes the prefix, unrecorded. Yields the number of tokens done, now and then."""
    for i in range(0, len(tokens), model.batch):
        model.decode(tokens[i:i + model.batch])
        yield min(i + model.batch, len(tokens))


def record(model, next_token, writer, units):
    """Decodes and records every step; `next_token(step)` chooses what is decoded. Yields the number
    of steps done."""
    recorder = Recorder(writer, units)
    model.probe.see = recorder.see
    for step in range(writer.header.steps):
        model.decode([next_token(step)])
        recorder.finish_step(step)
        yield step + 1


def sampler(model, seed):
    """Draws from the model's distribution after the last decoded token."""
    random = np.random.default_rng(seed)

    def next_token(_):
        logits = model.logits().astype(np.float64)
        sums = np.cumsum(np.exp(logits - logits.max()))
        return int(np.searchsorted(sums, random.random() * sums[-1], side='right'))

    return next_token


# ---- from options to a trace ---------------------------------------------------------------------


def read_text(path, offset):
    try:
        with open(path, 'rb') as file:
            is_gzip = file.read(2) == b'\x1f\x8b'
        with (gzip.open if is_gzip else open)(path, 'rb') as file:
            text = file.read()[offset:]
    except (OSError, EOFError, zlib.error) as why:
        raise Refusal(f"cannot read text '{path}': {getattr(why, 'strerror', None) or why}")
    return text.decode(errors='replace').encode()


def read_tokens(model, options):
    tokens = model.tokenize(read_text(options.text, options.offset), options.context)
    needed = options.context + (options.steps if options.method == 'forced' else 0)
    if len(tokens) < needed:
        raise Refusal(f"'{options.text}' is too short: {len(tokens)} tokens from byte "
                      f'{options.offset}, needed {needed}')
    return tokens


def describe_source(options):
    """The header's JSON. Paths are left out: the same recording has the same bytes anywhere."""
    model, text = os.path.basename(options.model), os.path.basename(options.text)
    command = ['capture.py', '--model', model, '--text', text, '--offset', str(options.offset),
               '--context', str(options.context), '--steps', str(options.steps),
               '--sample' if options.method == 'sampled' else '--forced',
               '--keep', f'{options.keep:g}%', '--sinks', str(options.sinks),
               '--recent', str(options.recent)]
    if options.method == 'sampled':
        command += ['--seed', str(options.seed)]
    if options.unit[0] != 'token':
        command += ['--unit', '{}:{}'.format(*options.unit)]
    return {'model': model.removesuffix('.gguf'), 'text': f'{text} from byte {options.offset}',
            'method': options.method, 'command': shlex.join(command)}


def make_units(options):
    kind, size = options.unit
    return KINDS[kind](size, options.context, options.sinks, options.recent)


def make_header(options, geometry, units):
    header = swt.Header(
        layers=geometry.layers, kv_heads=geometry.kv_heads, query_heads=geometry.query_heads,
        head_dim=geometry.head_dim, context=options.context, unit_kind=units.kind,
        unit_tokens=units.size, units=units.count, sinks=options.sinks, recent=options.recent,
        keep=0, sequences=1, steps=options.steps, steps_per_tile=STEPS_PER_TILE,
        flags=swt.HAS_QUERIES | (swt.HAS_APPROXIMATE if units.asks else 0),
        source=describe_source(options))
    first, end = header.window
    header.keep = min(end - first, int(options.keep * header.units / 100))
    if header.keep < 1:
        raise Refusal(f'--keep of {header.units} units, {end - first} of them outside --sinks and '
                      '--recent, is less than one')
    return header


def show_progress(label, counts, total):
    """Draws a bar on standard error, if that is a terminal, while `counts` runs up to `total`."""
    if not sys.stderr.isatty():
        for _ in counts:
            pass
        return
    width, start = 30, time.monotonic()
    try:
        for done in counts:
            bar = '#' * (width * done // total)
            left = (time.monotonic() - start) / done * (total - done)
            print(f'\r{label} [{bar:{width}}] {done}/{total}, {left:.0f} s left   ', end='',
                  file=sys.stderr, flush=True)
    finally:
        print(file=sys.stderr)


def capture(options):
    """Does what the command line asks, or raises Refusal or OSError."""
    model = Model(options.model)
    try:
        needed = options.context + options.steps
        check_model(model, needed)
        tokens = read_tokens(model, options)
        model.open_context(needed)
        geometry = measure_geometry(model, tokens[0])
        units = make_units(options)
        with swt.Writer(options.output, make_header(options, geometry, units)) as writer:
            prefix = tokens[:options.context]
            model.probe.see_keys = units.see_keys if units.asks else None
            show_progress('prefix', prefill(model, prefix), len(prefix))
            model.probe.see_keys = None
            units.build()
            next_token = (sampler(model, options.seed) if options.method == 'sampled'
                          else lambda step: tokens[options.context + step])
            show_progress('record', record(model, next_token, writer, units),
                          options.steps)
    finally:
        model.close()
    print(f'{options.output}: {geometry.layers} layers, {geometry.kv_heads} KV heads, '
          f'{options.steps} steps, {os.path.getsize(options.output)} bytes')
