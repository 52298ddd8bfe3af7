"""Decode traces (.swt) in Python: a writer and a reader.

The format is that of FORMAT.md beside this file, and the words are used as there. Frames are
written and read one at a time, so that memory does not grow with steps. A file appears under its
name only when it is whole. Rows of approximate demands (flag bit 1) are not supported.

    header = Header(layers=30, kv_heads=3, ...)
    with Writer('x.swt', header) as trace:
        for tile ...:
            for layer ...:
                trace.put(rows, scale, query)

    trace = Reader('x.swt')
    frame = trace.frame(sequence=0, tile=0, layer=5)
    for row in frame.rows: ...
"""

import json
import math
import os
import struct
from dataclasses import astuple, dataclass

import numpy as np
import xxhash
import zstandard

MAGIC = b'\x89SWT\r\n\x1a\n'
FRAME_MAGIC = b'SWTF'
END_MAGIC = b'SWTEND\r\n'
VERSION = 1
POSITIONS, CLUSTERS = 0, 1
HAS_QUERIES = 1
STORED, ZSTD = 0, 1
ZSTD_LEVEL = 17  # higher ones are slower and no smaller
HEADER_FIXED = struct.Struct('<8s18I')
FRAME_FIXED = struct.Struct('<4s6I')
U64 = struct.Struct('<Q')
SMALLEST_MASS = 2.0 ** -25.5  # code 255


class FormatError(Exception):
    """The file is not the trace that FORMAT.md describes."""


@dataclass
class Header:
    """Field for field as in FORMAT.md, `source` as the dict that becomes JSON."""

    layers: int
    kv_heads: int
    query_heads: int
    head_dim: int
    context: int
    unit_kind: int
    unit_tokens: int
    units: int
    sinks: int
    recent: int
    keep: int
    sequences: int
    steps: int
    steps_per_tile: int
    flags: int
    source: dict

    @property
    def tiles(self):
        return math.ceil(self.steps / self.steps_per_tile)

    def tile_steps(self, tile):
        return min(self.steps_per_tile, self.steps - tile * self.steps_per_tile)

    @property
    def frames(self):
        return self.sequences * self.tiles * self.layers

    def encode(self):
        source = json.dumps(self.source, ensure_ascii=False).encode()
        size = HEADER_FIXED.size + len(source) + U64.size
        *numbers, _ = astuple(self)
        fixed = HEADER_FIXED.pack(MAGIC, VERSION, size, *numbers, len(source))
        return with_checksum(fixed + source)


@dataclass
class Row:
    """What one KV head kept at one step: ascending units, the mass code of each, and the rest."""

    units: np.ndarray
    codes: np.ndarray
    born: float
    tail: float


@dataclass
class PackedRow:
    """A row as the columns of a payload hold it: what a writer keeps of a tile."""

    count: int
    born: float
    tail: float
    gaps: bytes
    codes: bytes


@dataclass
class Frame:
    """`rows` head by head, step by step; `scale` [query heads, steps], `query` [.., head dim]."""

    rows: list
    scale: np.ndarray
    query: np.ndarray


def with_checksum(data):
    return data + U64.pack(xxhash.xxh64_intdigest(data))


def mass_codes(mass):
    """The code of each mass, rounded to nearest."""
    octaves = -np.log2(np.maximum(mass, SMALLEST_MASS))
    return np.clip(np.rint(10 * octaves), 0, 255).astype(np.uint8)


def masses(codes):
    return np.exp2(codes.astype(np.float64) / -10)


def pack_row(units, mass, born, tail):
    """A row from ascending `units` and the mass of each."""
    gaps = np.diff(units.astype(np.int64), prepend=-1) - 1
    return PackedRow(len(units), born, tail, encode_varints(gaps), mass_codes(mass).tobytes())


def encode_varints(values):
    """LEB128 of each value below 2^32, one after the other."""
    sizes = np.ones(len(values), np.int64)
    for bits in (7, 14, 21, 28):
        sizes += values >= 1 << bits
    starts = np.cumsum(sizes) - sizes
    out = np.zeros(sizes.sum(), np.uint8)
    for i in range(int(sizes.max(initial=0))):
        has = sizes > i
        more = np.where(sizes[has] > i + 1, 0x80, 0)
        out[starts[has] + i] = values[has] >> 7 * i & 0x7F | more
    return out.tobytes()


def decode_varints(data, count):
    """The `count` values whose encodings fill `data` exactly."""
    data = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(data < 0x80) + 1
    if len(ends) != count or (count and ends[-1] != len(data)) or (not count and len(data)):
        raise FormatError('the gaps do not fill their column')
    sizes = np.diff(ends, prepend=0)
    if sizes.max(initial=0) > 5:
        raise FormatError('a gap has more than five bytes')
    values = np.zeros(count, np.int64)
    for i in range(int(sizes.max(initial=0))):
        has = sizes > i
        values[has] |= (data[(ends - sizes)[has] + i].astype(np.int64) & 0x7F) << 7 * i
    return values


class Writer:
    """Writes beside `path` and renames when closed; as a context manager, drops on an exception."""

    def __init__(self, path, header):
        if os.path.isdir(path):
            raise IsADirectoryError(21, 'Is a directory', path)
        self.path, self.header = path, header
        self.offsets = []
        self.partial = f'{path}.part'
        self.file = open(self.partial, 'wb')
        self.compressor = zstandard.ZstdCompressor(level=ZSTD_LEVEL)
        self.file.write(header.encode())

    def put(self, rows, scale=None, query=None):
        """The next frame in file order: PackedRow head by head, step by step; with queries `scale`
        [query heads, steps] and `query` [query heads, steps, head dim]."""
        h, index = self.header, len(self.offsets)
        layer, tile = index % h.layers, index // h.layers % h.tiles
        steps = h.tile_steps(tile)
        assert len(rows) == h.kv_heads * steps
        payload = rows_payload(rows)
        if h.flags & HAS_QUERIES:
            assert scale.shape == (h.query_heads, steps)
            assert query.shape == (h.query_heads, steps, h.head_dim)
            payload += scale.astype('<f4').tobytes() + query.astype(np.int8).tobytes()
        stored, codec = self.compressor.compress(payload), ZSTD
        if len(stored) >= len(payload):
            stored, codec = payload, STORED
        fixed = FRAME_FIXED.pack(FRAME_MAGIC, index // (h.layers * h.tiles), tile, layer, codec,
                                 len(payload), len(stored))
        checksum = U64.pack(xxhash.xxh64_intdigest(fixed + stored))
        self.offsets.append(self.file.tell())
        self.file.write(fixed + checksum + stored)

    def close(self):
        """Completes the file and gives it its name."""
        assert len(self.offsets) == self.header.frames
        index = np.array(self.offsets, '<u8').tobytes()
        place = U64.pack(self.file.tell())
        self.file.write(with_checksum(index) + place + END_MAGIC)
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self.partial, self.path)

    def discard(self):
        """Drops what was written."""
        try:
            self.file.close()
        except OSError:  # a full disk refuses what was buffered; the file is closed all the same
            pass
        os.unlink(self.partial)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None:
                self.close()
        except BaseException:
            self.discard()
            raise
        if kind is not None:
            self.discard()


def rows_payload(rows):
    gaps = b''.join(row.gaps for row in rows)
    return b''.join((
        np.array([row.count for row in rows], '<u4').tobytes(),
        np.array([row.born for row in rows], '<f4').tobytes(),
        np.array([row.tail for row in rows], '<f4').tobytes(),
        struct.pack('<I', len(gaps)), gaps,
        b''.join(row.codes for row in rows)))


class Reader:
    """Reads frames in any order, checking sizes, checksums and units."""

    def __init__(self, path):
        self.file = open(path, 'rb')
        self.header = self.read_header()
        self.offsets = self.read_index()

    def take(self, size, what):
        data = self.file.read(size)
        if len(data) != size:
            raise FormatError(f'{what} is cut short')
        return data

    def read_header(self):
        fixed = self.take(HEADER_FIXED.size, 'header')
        magic, version, size, *numbers, source_bytes = HEADER_FIXED.unpack(fixed)
        if magic != MAGIC or version != VERSION or size != HEADER_FIXED.size + source_bytes + 8:
            raise FormatError('not a decode trace of version 1')
        data = fixed + self.take(source_bytes + U64.size, 'header')
        if with_checksum(data[:-8]) != data:
            raise FormatError('the header does not match its checksum')
        header = Header(*numbers, json.loads(data[HEADER_FIXED.size:-8]))
        if header.flags & ~HAS_QUERIES:
            raise FormatError(f'flags {header.flags:#x} are not supported')
        return header

    def read_index(self):
        size = 8 * self.header.frames
        self.file.seek(-size - 24, os.SEEK_END)
        place = self.file.tell()
        data = self.take(size + 24, 'index')
        if (with_checksum(data[:size]) != data[:size + 8] or data[-8:] != END_MAGIC
                or U64.unpack(data[-16:-8])[0] != place):
            raise FormatError('the index does not match its checksum or place')
        return np.frombuffer(data[:size], '<u8')

    def frame(self, sequence, tile, layer):
        h = self.header
        name = f'frame (sequence {sequence}, tile {tile}, layer {layer})'
        self.file.seek(int(self.offsets[(sequence * h.tiles + tile) * h.layers + layer]))
        fixed = self.take(FRAME_FIXED.size, name)
        magic, *place, codec, raw_bytes, stored_bytes = FRAME_FIXED.unpack(fixed)
        checksum, = U64.unpack(self.take(U64.size, name))
        stored = self.take(stored_bytes, name)
        if magic != FRAME_MAGIC or place != [sequence, tile, layer]:
            raise FormatError(f'{name} is not where the index says')
        if checksum != xxhash.xxh64_intdigest(fixed + stored):
            raise FormatError(f'{name} does not match its checksum')
        payload = (zstandard.ZstdDecompressor().decompress(stored, max_output_size=raw_bytes)
                   if codec == ZSTD else stored)
        if len(payload) != raw_bytes:
            raise FormatError(f'{name} has {len(payload)} bytes instead of {raw_bytes}')
        return self.parse(payload, h.tile_steps(tile), name)

    def parse(self, payload, steps, name):
        h, columns = self.header, Columns(payload, name)
        n = h.kv_heads * steps
        counts = columns.take('<u4', n).astype(np.int64)
        born, tail = columns.take('<f4', n), columns.take('<f4', n)
        gap_bytes = int(columns.take('<u4', 1)[0])
        gaps = decode_varints(columns.take('u1', gap_bytes).tobytes(), int(counts.sum()))
        codes = columns.take('u1', len(gaps))
        scale = query = None
        if h.flags & HAS_QUERIES:
            scale = columns.take('<f4', h.query_heads * steps).reshape(h.query_heads, steps)
            query = columns.take('i1', scale.size * h.head_dim).reshape(*scale.shape, h.head_dim)
        columns.finish()
        rows = []
        for end, count, b, t in zip(np.cumsum(counts), counts, born, tail):
            units = np.cumsum(gaps[end - count:end] + 1) - 1
            if count and units[-1] >= h.units:
                raise FormatError(f'{name} has unit {units[-1]} of {h.units}')
            rows.append(Row(units, codes[end - count:end], float(b), float(t)))
        return Frame(rows, scale, query)


class Columns:
    """A payload, taken column by column."""

    def __init__(self, payload, name):
        self.payload, self.name, self.offset = payload, name, 0

    def take(self, dtype, count):
        size = np.dtype(dtype).itemsize * count
        if size > len(self.payload) - self.offset:
            raise FormatError(f'{self.name} is cut short')
        values = np.frombuffer(self.payload, dtype, count, self.offset)
        self.offset += size
        return values

    def finish(self):
        if self.offset != len(self.payload):
            raise FormatError(f'{self.name} has bytes after its last column')
