"""Records the attention of decoded tokens as frames of a decode trace, for any decoder.

The mass of a KV head is the mean over its query heads. Memory holds only one tile of steps, and the
keys of the prefix if units or a retrieval need them (units.py).
"""

import gzip
import os
import shlex
import sys
import zlib
from dataclasses import dataclass

import numpy as np

import swt
from options import Refusal
from rows import pack, pack_asked
from units import KINDS

STEPS_PER_TILE = 16
MAX_SUM_ERROR = 1e-3  # of attention weights


# ---- what a model can be recorded as -------------------------------------------------------------


@dataclass
class Geometry:
    layers: list        # those recorded, by their number in the model
    model_layers: int
    kv_heads: int
    query_heads: int
    head_dim: int


def common_geometry(seen, layers, chosen, name):
    """The shape of a model of `layers` layers, which were `seen` with (KV heads, query heads, head
    dimension): the `chosen` ones (None: all) must be there and have the same shape."""
    chosen = chosen or list(range(layers))
    if chosen[-1] >= layers:
        raise Refusal(f"--layers: '{name}' has layers 0 to {layers - 1}, but no layer {chosen[-1]}")
    for layer in chosen:
        if layer not in seen:
            raise Refusal(f"layer {layer} of '{name}' shows no attention; --layers can leave it "
                          'out')
        if seen[layer] != seen[chosen[0]]:
            heads, first = ('{} KV heads and {} query heads of dimension {}'.format(*seen[other])
                            for other in (layer, chosen[0]))
            raise Refusal(f'layer {layer} has {heads}, layer {chosen[0]} {first}: they must be the '
                          'same; --layers can leave it out')
    return Geometry(chosen, layers, *seen[chosen[0]])


# ---- rows ----------------------------------------------------------------------------------------


class Recorder:
    """Turns the attention of decoded tokens into frames of the `layers`, from `first_step` on.
    Holds a tile of packed rows."""

    def __init__(self, writer, units, layers, first_step=0):
        self.first_step = first_step
        self.writer = writer
        self.header = writer.header
        self.units = units
        self.layers = layers
        self.sliding = list(layers)  # those that have not yet seen the first token
        self.start_tile()

    def start_tile(self):
        self.rows = {layer: [] for layer in self.layers}  # [layer][step]: a row for each head
        self.asked = {layer: [] for layer in self.layers}
        self.scale = {layer: [] for layer in self.layers}
        self.query = {layer: [] for layer in self.layers}

    def see(self, layer, query, weights, kv_heads, asking):
        """Adds one step of one layer: queries [query heads, head dim], weights [query heads,
        tokens], and the queries `asking` for the retrieval. Other layers are passed over."""
        if layer not in self.rows:
            return
        sums = weights.sum(axis=1, dtype=np.float64)
        if not np.abs(sums - 1).max() < MAX_SUM_ERROR:
            raise Refusal(f'layer {layer}: attention weights of a head sum to {sums.min():.4f} … '
                          f'{sums.max():.4f}, expected 1; learned sinks cannot be recorded')
        if layer in self.sliding and weights[:, 0].any():
            self.sliding.remove(layer)
        mass = weights.reshape(kv_heads, -1, weights.shape[-1]).mean(axis=1, dtype=np.float64)
        self.rows[layer].append([pack(*self.units_of(layer, head, mass[head]), self.header)
                                 for head in range(kv_heads)])
        if self.units.asks:
            groups = np.split(asking, kv_heads)
            self.asked[layer].append([pack_asked(self.units.score(layer, head, groups[head]),
                                                 self.header) for head in range(kv_heads)])
        if self.header.flags & swt.HAS_QUERIES:
            scale, values = quantize(query)
            self.scale[layer].append(scale)
            self.query[layer].append(values)

    def see_keys(self, layer, keys):
        if layer in self.rows:
            self.units.see_keys(layer, keys)

    def units_of(self, layer, head, mass):
        """The mass of each unit, and the mass in no unit, from the mass of each cell of the
        cache."""
        prefix, born = mass[:self.header.context], mass[self.header.context:].sum()
        units, rest = self.units.fold(layer, head, prefix)
        return units, born + rest

    def finish_step(self, step):
        if step < self.first_step:
            return
        if (step + 1) % self.header.steps_per_tile == 0 or step + 1 == self.header.steps:
            for layer in self.layers:
                self.writer.put(by_head(self.rows[layer]), *self.queries_of(layer),
                                by_head(self.asked[layer]) if self.units.asks else None)
            self.start_tile()

    def queries_of(self, layer):
        """The scales and values of a tile, for Writer.put()."""
        if not self.header.flags & swt.HAS_QUERIES:
            return None, None
        return (np.stack(self.scale[layer], axis=1).ravel().tolist(),
                np.stack(self.query[layer], axis=1).tobytes())


def by_head(rows):
    """Reorders a list from (step, head) to (head, step)."""
    return [row for head in zip(*rows) for row in head]


def quantize(query):
    """Scale [query heads] and int8 [query heads, head dim] with query = scale · value."""
    scale = np.abs(query).max(axis=1) / np.float32(127)
    values = np.rint(query / np.where(scale > 0, scale, 1)[:, None])
    return scale, values.astype(np.int8)


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


def check_length(tokens, options):
    require_tokens(tokens, options.context + (options.steps if options.method == 'forced' else 0),
                   options)


def require_tokens(tokens, needed, options):
    if len(tokens) < needed:
        raise Refusal(f"'{options.text}' is too short: {len(tokens)} tokens from byte "
                      f'{options.offset}, needed {needed}')


def describe_source(options, geometry):
    """The header's JSON. Paths are left out, so that the same recording has the same bytes
    anywhere."""
    model, text = os.path.basename(options.model), os.path.basename(options.text)
    command = [options.program, '--model', model, '--text', text, '--offset', str(options.offset),
               '--context', str(options.context), '--steps', str(options.steps),
               '--sample' if options.method == 'sampled' else '--forced',
               '--keep', f'{options.keep:g}%', '--sinks', str(options.sinks),
               '--recent', str(options.recent)]
    if options.method == 'sampled':
        command += ['--seed', str(options.seed)]
    if options.unit[0] != 'token':
        command += ['--unit', '{}:{}'.format(*options.unit)]
    if options.speculate:
        command += ['--speculate', options.speculate]
    source = {'model': model.removesuffix('.gguf'), 'text': f'{text} from byte {options.offset}',
              'method': options.method}
    if options.layers:
        command += ['--layers', ','.join(map(str, options.layers))]
        source |= {'layers': geometry.layers, 'model_layers': geometry.model_layers}
    if not options.queries:
        command += ['--no-queries']
    return source | {'command': shlex.join(command)}


def make_units(options):
    """The units. Speculation on tokens needs a retrieval too: the one by the keys themselves."""
    kind, size = options.unit
    if kind == 'token' and options.speculate:
        kind = 'key'
    return KINDS[kind](size, options.context, options.sinks, options.recent)


def make_header(options, geometry, units):
    header = swt.Header(
        layers=len(geometry.layers), kv_heads=geometry.kv_heads, query_heads=geometry.query_heads,
        head_dim=geometry.head_dim, context=options.context, unit_kind=units.kind,
        unit_tokens=units.size, units=units.count, sinks=options.sinks, recent=options.recent,
        keep=0, sequences=1, steps=options.steps, steps_per_tile=STEPS_PER_TILE,
        flags=((swt.HAS_QUERIES if options.queries else 0) |
               (swt.HAS_APPROXIMATE if units.asks else 0)),
        source=describe_source(options, geometry))
    first, end = header.window
    header.keep = min(end - first, int(options.keep * header.units / 100))
    if header.keep < 1:
        raise Refusal(f'--keep of {header.units} units, {end - first} of them outside --sinks and '
                      '--recent, is less than one')
    return header


def say_sliding(options, recorder):
    """Says which layers had better been left out: those that never saw the first token."""
    others = [str(layer) for layer in recorder.layers if layer not in recorder.sliding]
    if recorder.sliding and others:
        print(f'{options.program}: {len(recorder.sliding)} layers have a sliding window; no system '
              f'moves their KV, so leave them out: --layers {",".join(others)}', file=sys.stderr)


def say_written(options, geometry):
    print(f'{options.output}: {len(geometry.layers)} layers, {geometry.kv_heads} KV heads, '
          f'{options.steps} steps, {os.path.getsize(options.output)} bytes')
