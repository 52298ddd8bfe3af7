"""Decode traces (.swt) in Python: a writer and a reader, independent of the C code and tested
against it.

The format and its words are those of FORMAT.md beside this file. Only the standard library is
needed. Without the package zstandard (or Python 3.14) frames are written uncompressed, and
compressed ones are read by the system's zstd; without xxhash or its library checksums take
longer. Frames are written and read
one at a time, so that memory does not grow with steps. A file gets its name only when it is
complete.

    header = Header(layers=30, kv_heads=3, ...)
    with Writer('x.swt', header) as trace:
        for tile ...:
            for layer ...:
                trace.put(rows)

    with Reader('x.swt') as trace:
        for frame in trace.frames():
            for row in frame.rows: ...
"""

import csv
import ctypes
import ctypes.util
import functools
import itertools
import json
import math
import os
import re
import struct
from dataclasses import astuple, dataclass, fields


@functools.cache
def library(name):
    """The system's library of this name, or None."""
    path = ctypes.util.find_library(name)
    return path and ctypes.CDLL(path)


try:
    from xxhash import xxh64_intdigest as xxh64
except ImportError:
    def xxh64(data):
        known = library('xxhash')
        if not known:
            return xxh64_here(data)
        known.XXH64.restype = ctypes.c_uint64
        return known.XXH64(data, ctypes.c_size_t(len(data)), ctypes.c_uint64(0))
try:
    from compression import zstd  # Python 3.14
    zstd_compress, zstd_decompress = zstd.compress, zstd.decompress
    ZstdError = zstd.ZstdError
except ImportError:
    try:
        import zstandard
        ZstdError = zstandard.ZstdError

        def zstd_compress(data, level):
            return zstandard.ZstdCompressor(level=level).compress(data)

        def zstd_decompress(data):
            return zstandard.ZstdDecompressor().decompress(data, max_output_size=PAYLOAD_MOST,
                                                           allow_extra_data=False)
    except ImportError:
        zstd_compress, ZstdError = None, ValueError

        def zstd_decompress(data):
            zstd, size = library('zstd'), ctypes.c_size_t(len(data))
            if not zstd:
                raise ZstdError("neither the package 'zstandard' nor the system's library is there")
            zstd.ZSTD_getFrameContentSize.restype = ctypes.c_ulonglong
            zstd.ZSTD_findFrameCompressedSize.restype = ctypes.c_size_t
            zstd.ZSTD_decompress.restype = ctypes.c_size_t
            whole = zstd.ZSTD_getFrameContentSize(data, size)
            if whole > PAYLOAD_MOST or zstd.ZSTD_findFrameCompressedSize(data, size) != len(data):
                raise ZstdError('not one frame of a stated size')
            room = ctypes.create_string_buffer(whole or 1)
            if zstd.ZSTD_decompress(room, ctypes.c_size_t(whole), data, size) != whole:
                raise ZstdError('damaged')
            return room.raw[:whole]

MAGIC = b'\x89SWT\r\n\x1a\n'
FRAME_MAGIC = b'SWTF'
END_MAGIC = b'SWTEND\r\n'
VERSION = 1
POSITIONS, CLUSTERS = 0, 1
HAS_QUERIES, HAS_APPROXIMATE = 1, 2
STORED, ZSTD = 0, 1
ZSTD_LEVEL = 17  # higher ones are slower and no smaller
PAYLOAD_MOST = 1 << 27
SOURCE_MOST = 65536
VARINT_MOST = 5
U32_MOST = 2 ** 32 - 1
MASS_MOST = 1.001
HEADER_FIXED = struct.Struct('<8s18I')
FRAME_FIXED = struct.Struct('<4s6I')
U32, U64 = struct.Struct('<I'), struct.Struct('<Q')

# Mass of each code, and the code of a mass.
MASSES = struct.unpack('<256f', struct.pack('<256f', *(2 ** (-c / 10) for c in range(256))))


def mass_code(mass):
    return min(255, max(0, round(-10 * math.log2(mass)))) if mass > 0 else 255


class FormatError(Exception):
    """The file is not the trace that FORMAT.md describes."""


def require(holds, text):
    if not holds:
        raise FormatError(text)


# ---- checksum ------------------------------------------------------------------------------------

PRIMES = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63,
          0x27D4EB2F165667C5)
MASK = 2 ** 64 - 1


def rotate(value, bits):
    return (value << bits | value >> 64 - bits) & MASK


def mix(lane, word):
    return rotate((lane + word * PRIMES[1]) & MASK, 31) * PRIMES[0] & MASK


def xxh64_here(data):
    """XXH64 with seed 0: four lanes over stripes of 32 bytes, then the remaining bytes."""
    p1, p2, p3, p4, p5 = PRIMES
    whole = len(data) & ~31
    digest = p5
    if whole:
        a, b, c, d = (p1 + p2) & MASK, p2, 0, -p1 & MASK
        for w, x, y, z in struct.iter_unpack('<4Q', data[:whole]):
            a, b, c, d = mix(a, w), mix(b, x), mix(c, y), mix(d, z)
        digest = rotate(a, 1) + rotate(b, 7) + rotate(c, 12) + rotate(d, 18)
        for lane in a, b, c, d:
            digest = ((digest ^ mix(0, lane)) * p1 + p4) & MASK
    digest = (digest + len(data)) & MASK
    rest = data[whole:]
    words = len(rest) & ~7
    for word, in struct.iter_unpack('<Q', rest[:words]):
        digest = (rotate(digest ^ mix(0, word), 27) * p1 + p4) & MASK
    rest = rest[words:]
    if len(rest) >= 4:
        digest = (rotate(digest ^ U32.unpack(rest[:4])[0] * p1 & MASK, 23) * p2 + p3) & MASK
        rest = rest[4:]
    for byte in rest:
        digest = rotate(digest ^ byte * p5 & MASK, 11) * p1 & MASK
    digest = (digest ^ digest >> 33) * p2 & MASK
    digest = (digest ^ digest >> 29) * p3 & MASK
    return digest ^ digest >> 32


def with_checksum(data):
    return data + U64.pack(xxh64(data))


# ---- header --------------------------------------------------------------------------------------

# Least and most of the numbers, in their order.
RANGES = ((1, 1024), (1, 1024), (1, 65536), (1, 1024), (1, U32_MOST), (POSITIONS, CLUSTERS),
          (1, U32_MOST), (1, U32_MOST), (0, U32_MOST), (0, U32_MOST), (0, U32_MOST), (1, U32_MOST),
          (1, U32_MOST), (1, 256), (0, HAS_QUERIES | HAS_APPROXIMATE))


@dataclass
class Header:
    """The fields of FORMAT.md; `source` is a dict that becomes JSON."""

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
        return -(-self.steps // self.steps_per_tile)

    def tile_steps(self, tile):
        return min(self.steps_per_tile, self.steps - tile * self.steps_per_tile)

    @property
    def frame_count(self):
        return self.sequences * self.tiles * self.layers

    def place(self, number):
        """Sequence, tile and layer of a frame, by its number in the file."""
        rest, layer = divmod(number, self.layers)
        return *divmod(rest, self.tiles), layer

    @property
    def window(self):
        """Two unit numbers: units before the first hold sinks, units from the second on recent
        tokens."""
        if self.unit_kind == CLUSTERS:
            return 0, self.units
        first = min(-(-self.sinks // self.unit_tokens), self.units)
        end = (self.context - self.recent) // self.unit_tokens if self.recent else self.units
        return first, max(first, end)

    def payload_bounds(self, steps):
        """The smallest and the largest size of a payload in bytes."""
        rows, first, end = self.kv_heads * steps, *self.window
        kinds = 2 if self.flags & HAS_APPROXIMATE else 1
        queries = self.query_heads * steps if self.flags & HAS_QUERIES else 0
        least = rows * (8 + 4 * kinds) + 4 * kinds + queries * (4 + self.head_dim)
        units = rows * kinds * (self.units - (end - first) + min(self.keep, end - first))
        return least, least + units * (VARINT_MOST + 1)

    def check(self):
        for field, (least, most) in zip(fields(self), RANGES):
            value = getattr(self, field.name)
            require(least <= value <= most, f'header: {field.name} is {value}')
        require(self.query_heads % self.kv_heads == 0, 'header: query_heads is not a multiple of kv_heads')
        require(self.unit_kind == CLUSTERS or self.units == -(-self.context // self.unit_tokens),
                'header: units is not context / unit_tokens')
        require(max(self.units, self.sinks, self.recent) <= self.context,
                'header: units, sinks or recent exceeds context')
        require(self.payload_bounds(self.tile_steps(0))[0] <= PAYLOAD_MOST,
                'header: a frame is too large')
        require(isinstance(self.source, dict), 'header: source is not a JSON object')

    def encode(self):
        source = json.dumps(self.source, ensure_ascii=False).encode()
        size = HEADER_FIXED.size + len(source) + U64.size
        *numbers, _ = astuple(self)
        fixed = HEADER_FIXED.pack(MAGIC, VERSION, size, *numbers, len(source))
        return with_checksum(fixed + source)


def parse_source(text):
    def refuse(constant):
        raise ValueError(f'{constant} is not JSON')
    try:
        return json.loads(text.decode(), parse_constant=refuse)
    except (ValueError, RecursionError) as why:
        raise FormatError(f'header: source is not JSON: {why}')


# ---- rows ----------------------------------------------------------------------------------------


@dataclass
class Row:
    """The units that one KV head kept at one step, ascending, the mass code of each, and the rest
    of the mass. In an approximate row, codes are places in its order, and there is no rest."""

    units: list
    codes: bytes
    born: float = 0.0
    tail: float = 0.0


@dataclass
class PackedRow:
    """A row in the form of a payload's columns, in which a writer keeps a tile."""

    count: int
    born: float
    tail: float
    gaps: bytes
    codes: bytes


@dataclass
class Frame:
    """`rows` and, if there are any, `approximate` are ordered by KV head, then step. `scale` has a
    number, and `query` head_dim numbers, for each (query head, step), ordered by query head."""

    sequence: int
    tile: int
    layer: int
    rows: list
    approximate: list = None
    scale: list = None
    query: list = None


def pack_row(units, codes, born=0.0, tail=0.0):
    """A row from ascending `units` and the mass code of each."""
    before = itertools.chain((-1,), units)
    gaps = [unit - last - 1 for unit, last in zip(units, before)]
    return PackedRow(len(gaps), born, tail, encode_varints(gaps), bytes(codes))


def encode_varints(values):
    """LEB128 of each value, one after the other."""
    if max(values, default=0) < 0x80:
        return bytes(values)
    out = bytearray()
    for value in values:
        while value >= 0x80:
            out.append(value & 0x7F | 0x80)
            value >>= 7
        out.append(value)
    return bytes(out)


def decode_varints(data, count, name):
    """The `count` values whose encodings are exactly `data`."""
    if len(data) == count and (not count or max(data) < 0x80):
        return list(data)
    values, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            require(value <= U32_MOST, f'{name} has a gap past 32 bits')
            values.append(value)
            value = shift = 0
        else:
            require(shift < 7 * VARINT_MOST, f'{name} has a gap of more than five bytes')
    require(shift == 0 and len(values) == count, f'{name} has gaps that do not fill their column')
    return values


def units_columns(rows):
    gaps = b''.join(row.gaps for row in rows)
    return U32.pack(len(gaps)) + gaps + b''.join(row.codes for row in rows)


def encode_payload(rows, approximate, scale, query):
    n = len(rows)
    payload = struct.pack(f'<{n}I', *(row.count for row in rows))
    payload += struct.pack(f'<{n}f', *(row.born for row in rows))
    payload += struct.pack(f'<{n}f', *(row.tail for row in rows)) + units_columns(rows)
    if scale is not None:
        payload += struct.pack(f'<{len(scale)}f', *scale) + query
    if approximate is not None:
        payload += struct.pack(f'<{n}I', *(row.count for row in approximate))
        payload += units_columns(approximate)
    return payload


# ---- writing -------------------------------------------------------------------------------------


class Writer:
    """Writes a file beside `path` and renames it when closed; as a context manager, removes it on
    an exception."""

    def __init__(self, path, header):
        if os.path.isdir(path):
            raise IsADirectoryError(21, 'Is a directory', path)
        header.check()
        self.path, self.header = path, header
        self.offsets = []
        self.partial = f'{path}.part'
        self.file = self.begin()

    def begin(self):
        file = open(self.partial, 'wb')
        file.write(self.header.encode())
        return file

    def put(self, rows, scale=None, query=None, approximate=None):
        """Writes the next frame in file order: each PackedRow by KV head, then step; then
        approximate ones in the same order, if the header's flags say so; with queries, the `scale`
        of each query head, step by step, and all their numbers in `query`, a signed byte each."""
        h, index = self.header, len(self.offsets)
        sequence, tile, layer = h.place(index)
        steps = h.tile_steps(tile)
        queries = h.query_heads * steps
        assert len(rows) == h.kv_heads * steps
        assert (approximate is not None) == bool(h.flags & HAS_APPROXIMATE)
        assert approximate is None or len(approximate) == len(rows)
        assert (scale is not None) == bool(h.flags & HAS_QUERIES)
        assert scale is None or (len(scale), len(query)) == (queries, queries * h.head_dim)
        payload = encode_payload(rows, approximate, scale, query)
        codec, stored = STORED, payload
        if zstd_compress:
            packed = zstd_compress(payload, ZSTD_LEVEL)
            codec, stored = (ZSTD, packed) if len(packed) < len(payload) else (codec, stored)
        fixed = FRAME_FIXED.pack(FRAME_MAGIC, sequence, tile, layer, codec, len(payload),
                                 len(stored))
        self.write_frame(fixed + U64.pack(xxh64(fixed + stored)) + stored)

    def write_frame(self, data):
        self.offsets.append(self.file.tell())
        self.file.write(data)

    def close(self):
        """Completes the file and renames it to its name."""
        assert len(self.offsets) == self.header.frame_count
        index = struct.pack(f'<{len(self.offsets)}Q', *self.offsets)
        place = U64.pack(self.file.tell())
        self.file.write(with_checksum(index) + place + END_MAGIC)
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self.partial, self.path)

    def discard(self):
        """Removes the unfinished file."""
        self.close_unfinished()
        os.unlink(self.partial)

    def close_unfinished(self):
        try:
            self.file.close()
        except OSError:  # a full disk refuses what was buffered; the file is closed all the same
            pass

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


# ---- reading -------------------------------------------------------------------------------------


def frame_size(file, place):
    """Bytes of the whole frame (sequence, tile, layer) at the place of `file`, which moves behind
    it; None if there is none."""
    fixed = file.read(FRAME_FIXED.size)
    if len(fixed) < FRAME_FIXED.size:
        return None
    magic, *found, _, _, stored_bytes = FRAME_FIXED.unpack(fixed)
    if magic != FRAME_MAGIC or tuple(found) != tuple(place) or stored_bytes > PAYLOAD_MOST:
        return None
    rest = file.read(U64.size + stored_bytes)
    is_whole = (len(rest) == U64.size + stored_bytes and
                rest[:U64.size] == U64.pack(xxh64(fixed + rest[U64.size:])))
    return len(fixed) + len(rest) if is_whole else None


class Reader:
    """Reads frames in any order, and refuses everything that a reader must refuse by FORMAT.md."""

    def __init__(self, path):
        self.file = open(path, 'rb')
        try:
            self.header = self.read_header()
            self.offsets = self.read_index()
        except BaseException:
            self.file.close()
            raise

    def close(self):
        self.file.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def take(self, size, what):
        data = self.file.read(size)
        require(len(data) == size, f'{what} is cut short')
        return data

    def read_header(self):
        fixed = self.take(HEADER_FIXED.size, 'header')
        magic, version, size, *numbers, source_bytes = HEADER_FIXED.unpack(fixed)
        require(magic == MAGIC and version == VERSION, 'not a decode trace of version 1')
        require(source_bytes <= SOURCE_MOST and size == HEADER_FIXED.size + source_bytes + 8,
                'header: wrong size')
        data = fixed + self.take(source_bytes + U64.size, 'header')
        require(with_checksum(data[:-8]) == data, 'the header does not match its checksum')
        header = Header(*numbers, parse_source(data[HEADER_FIXED.size:-8]))
        header.check()
        return header

    def read_index(self):
        """The offsets of the frames, and of the index after them."""
        start, end = self.file.tell(), self.file.seek(0, os.SEEK_END)
        size = 8 * self.header.frame_count
        place = end - size - 24
        require(place >= start, 'the file is too short for its frames')
        self.file.seek(place)
        data = self.take(size + 24, 'index')
        require(data[-8:] == END_MAGIC, 'footer: wrong magic')
        require(U64.unpack(data[-16:-8])[0] == place, 'footer: wrong place of the index')
        require(with_checksum(data[:size]) == data[:size + 8], 'index: wrong checksum')
        offsets = [*struct.unpack(f'<{size // 8}Q', data[:size]), place]
        require(offsets[0] == start, 'index: wrong first offset')
        least = FRAME_FIXED.size + U64.size
        require(all(b - a >= least for a, b in zip(offsets, offsets[1:])), 'index: wrong offsets')
        return offsets

    def frames(self):
        """All frames, in the order of the file."""
        for number in range(self.header.frame_count):
            yield self.frame(*self.header.place(number))

    def frame(self, sequence, tile, layer):
        h = self.header
        name = f'tile {tile}, layer {layer}, sequence {sequence}'
        number = (sequence * h.tiles + tile) * h.layers + layer
        self.file.seek(self.offsets[number])
        data = self.take(self.offsets[number + 1] - self.offsets[number], name)
        size = FRAME_FIXED.size
        fixed, checksum, stored = data[:size], data[size:size + 8], data[size + 8:]
        magic, *place, codec, raw_bytes, stored_bytes = FRAME_FIXED.unpack(fixed)
        require(magic == FRAME_MAGIC and place == [sequence, tile, layer],
                f'{name} is not where the index says')
        require(stored_bytes == len(stored), f'{name} does not touch the next')
        require(checksum == U64.pack(xxh64(fixed + stored)), f'{name} has a wrong checksum')
        least, most = h.payload_bounds(h.tile_steps(tile))
        require(least <= raw_bytes <= min(most, PAYLOAD_MOST), f'{name} has a wrong size')
        payload = decompress(codec, stored, name)
        require(len(payload) == raw_bytes, f'{name} has {len(payload)} bytes, not {raw_bytes}')
        return parse_payload(h, Columns(payload, name), sequence, tile, layer)


def decompress(codec, stored, name):
    require(codec in (STORED, ZSTD), f'{name} has codec {codec}')
    if codec == STORED:
        return stored
    try:
        return zstd_decompress(stored)
    except ZstdError as why:
        raise FormatError(f'{name}: zstd: {why}')


class Columns:
    """A payload, read column by column."""

    def __init__(self, payload, name):
        self.payload, self.name, self.offset = payload, name, 0

    def bytes(self, size):
        require(size <= len(self.payload) - self.offset, f'{self.name} is cut short')
        self.offset += size
        return self.payload[self.offset - size:self.offset]

    def numbers(self, kind, count):
        return struct.unpack(f'<{count}{kind}', self.bytes(struct.calcsize(f'<{kind}') * count))

    def masses(self, count):
        values = self.numbers('f', count)
        require(all(0 <= value <= MASS_MOST for value in values), f'{self.name} has no mass')
        return values

    def units(self, counts):
        """The units and mass codes of rows with these counts."""
        total = sum(counts)
        gap_bytes, = self.numbers('I', 1)
        gaps = decode_varints(self.bytes(gap_bytes), total, self.name)
        codes = self.bytes(total)
        for end, count in zip(itertools.accumulate(counts), counts):
            steps = (gap + 1 for gap in gaps[end - count:end])
            units = [unit - 1 for unit in itertools.accumulate(steps)]
            yield units, codes[end - count:end]

    def finish(self):
        require(self.offset == len(self.payload), f'{self.name} has bytes after its last column')


def parse_payload(h, columns, sequence, tile, layer):
    frame = Frame(sequence, tile, layer, None)
    n = h.kv_heads * h.tile_steps(tile)
    counts = columns.numbers('I', n)
    born, tail = columns.masses(n), columns.masses(n)
    frame.rows = [Row(*row, *rest) for row, *rest in zip(columns.units(counts), born, tail)]
    if h.flags & HAS_QUERIES:
        queries = h.query_heads * h.tile_steps(tile)
        frame.scale = columns.numbers('f', queries)
        require(all(0 <= scale < math.inf for scale in frame.scale), f'{columns.name}: scale')
        frame.query = [columns.numbers('b', h.head_dim) for _ in range(queries)]
    if h.flags & HAS_APPROXIMATE:
        counts = columns.numbers('I', n)
        frame.approximate = [Row(*row) for row in columns.units(counts)]
    columns.finish()
    check_rows(h, frame.rows, columns.name)
    check_rows(h, frame.approximate or [], columns.name)
    return frame


def check_rows(h, rows, name):
    """Checks that units are in range and hold the whole window and at most `keep` others. They
    ascend because they are stored as gaps."""
    first, end = h.window
    recent = h.units - end
    for row in rows:
        count = len(row.units)
        require(not count or row.units[-1] < h.units, f'{name} has a unit out of range')
        require(count >= first + recent, f'{name} lacks a unit of the window')
        require(not first or row.units[first - 1] == first - 1, f'{name} lacks a sink')
        require(not recent or row.units[-recent] == end, f'{name} lacks a recent unit')
        require(count - first - recent <= h.keep, f'{name} has a row with more than keep')


# ---- text ----------------------------------------------------------------------------------------


def export_csv(trace, out):
    """Writes the whole trace of a reader as CSV. Holds one tile of all layers in memory."""
    h = trace.header
    numbers = ' '.join(f'{f.name}={getattr(h, f.name)}' for f in fields(h)[:-1])
    out.write(f'# swt {VERSION} {numbers}\n')
    out.write(f'# source {json.dumps(h.source, ensure_ascii=False)}\n')
    out.write('sequence,step,layer,head,unit,mass\n')
    frames = trace.frames()
    while tile := list(itertools.islice(frames, h.layers)):
        steps = h.tile_steps(tile[0].tile)
        for step in range(steps):
            for frame in tile:
                export_layer(h, frame, step, steps, out)


def export_layer(h, frame, step, steps, out):
    """The lines of one layer of one step."""
    key = f'{frame.sequence},{frame.tile * h.steps_per_tile + step},{frame.layer}'
    for head in range(h.kv_heads):
        row = frame.rows[head * steps + step]
        out.write(f'{key},{head},born,{row.born:.9g}\n{key},{head},tail,{row.tail:.9g}\n')
        export_units(f'{key},{head},', row, out)
        if frame.approximate:
            export_units(f'{key},{head},~', frame.approximate[head * steps + step], out)
    for head in range(h.query_heads if frame.query else 0):
        values = ' '.join(map(str, frame.query[head * steps + step]))
        out.write(f'{key},{head},query,{frame.scale[head * steps + step]:.9g} {values}\n')


def export_units(start, row, out):
    out.writelines(f'{start}{unit},{MASSES[code]:.4g}\n'
                   for unit, code in zip(row.units, row.codes))


# ---- from text -----------------------------------------------------------------------------------

REAL = re.compile(r'[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?', re.IGNORECASE)


class TextReader:
    """The items of a trace as CSV, in the one order that FORMAT.md allows; `place` says which line
    a fault is in."""

    def __init__(self, file, name):
        self.name, self.line = name, 0
        self.header = self.read_header([file.readline() for _ in range(3)])
        self.rows = csv.reader(file, strict=True, skipinitialspace=True)
        self.step()

    def require(self, holds, text):
        require(holds, f'{self.name}:{self.line}: {text}')

    def read_header(self, lines):
        marks = f'# swt {VERSION} ', '# source ', 'sequence,step,layer,head,unit,mass'
        for self.line, (line, mark) in enumerate(zip(lines, marks), 1):
            self.require(line.startswith(mark), f"a line that begins with '{mark}' is expected")
        numbers = dict(word.split('=', 1) for word in lines[0].split()[3:] if '=' in word)
        names = [field.name for field in fields(Header)[:-1]]
        self.line = 1
        self.require(sorted(numbers) == sorted(names) and len(lines[0].split()) == 3 + len(names),
                     f'the numbers {" ".join(names)} are expected, once each')
        header = Header(**{name: self.whole(text) for name, text in numbers.items()},
                        source=parse_source(lines[1][len(marks[1]):].encode()))
        header.check()
        self.line = 3
        return header

    def step(self):
        """Go on to the next item: its key, its kind and its value; key None at the end."""
        self.line += 1
        try:
            found = next(self.rows, None)
        except csv.Error as why:
            self.require(False, str(why))
        if found is None:
            self.key = self.kind = self.value = None
            return
        self.require(len(found) == 6, f'{len(found)} fields where there are 6')
        self.key = tuple(map(self.whole, found[:4]))
        self.kind, self.value = found[4:]

    def whole(self, text):
        self.require(text.isascii() and text.isdigit() and int(text) <= U32_MOST,
                     f"'{text}' is not a whole number")
        return int(text)

    def real(self, text, most=math.inf):
        number = float(text) if REAL.fullmatch(text) else math.nan
        self.require(0 <= number <= most and number < math.inf, f"'{text}' is not a number from 0 on")
        return number

    def take(self, key, kind):
        self.require((self.key, self.kind) == (key, kind),
                     f"'{kind}' of sequence %u, step %u, layer %u, head %u is expected" % key)
        value = self.value
        self.step()
        return value

    def take_row(self, key):
        """A row, and its approximate row."""
        rest = [self.real(self.take(key, kind), MASS_MOST) for kind in ('born', 'tail')]
        row, approximate = Row([], b'', *rest), Row([], b'')
        while self.key == key and self.kind not in ('born', 'tail', 'query'):
            into = approximate if self.kind.startswith('~') else row
            unit = self.whole(self.kind.removeprefix('~'))
            self.require(unit < self.header.units, f'unit {unit} of {self.header.units}')
            self.require(into.units[-1:] < [unit], f'unit {unit} does not ascend')
            self.require(into is row or self.header.flags & HAS_APPROXIMATE, 'an approximate row')
            into.units.append(unit)
            into.codes += bytes([mass_code(self.real(self.value, MASS_MOST))])
            self.step()
        return row, approximate

    def take_query(self, key):
        """Scale and numbers of a query."""
        scale, *numbers = self.take(key, 'query').split(' ')
        wrong = len(numbers) != self.header.head_dim or not all(
            re.fullmatch(r'-?[0-9]{1,3}', number) and -128 <= int(number) <= 127 for number in numbers)
        self.require(not wrong, f'a scale and {self.header.head_dim} numbers from -128 to 127 are expected')
        return self.real(scale), struct.pack(f'{len(numbers)}b', *map(int, numbers))

    def take_layer(self, place):
        """Rows by KV head and queries by query head, of one layer of one step."""
        h = self.header
        queries = h.query_heads if h.flags & HAS_QUERIES else 0
        return ([self.take_row((*place, head)) for head in range(h.kv_heads)],
                [self.take_query((*place, head)) for head in range(queries)])


def import_csv(file, name, path):
    """Writes the trace whose text is in `file`, which is called `name`, to `path`. Holds one tile of
    all layers in memory."""
    lines = TextReader(file, name)
    h = lines.header
    with Writer(path, h) as trace:
        for sequence, tile in itertools.product(range(h.sequences), range(h.tiles)):
            first = tile * h.steps_per_tile
            steps = [[lines.take_layer((sequence, step, layer)) for layer in range(h.layers)]
                     for step in range(first, first + h.tile_steps(tile))]
            for layer in range(h.layers):
                put_layer(trace, [step[layer] for step in steps], f'{name}:{lines.line}')
        lines.require(lines.key is None, 'the end of the file is expected')


def put_layer(trace, steps, name):
    """Writes a frame from rows and queries by step."""
    h = trace.header
    by_head = [rows[head] for head in range(h.kv_heads) for rows, _ in steps]
    kinds = [[pair[kind] for pair in by_head] for kind in range(2 if h.flags & HAS_APPROXIMATE else 1)]
    for rows in kinds:
        check_rows(h, rows, name)
    packed = [[pack_row(row.units, row.codes, row.born, row.tail) for row in rows] for rows in kinds]
    queries = [queries[head] for head in range(h.query_heads) for _, queries in steps if queries]
    scale, query = ([scale for scale, _ in queries], b''.join(numbers for _, numbers in queries))
    has_queries = h.flags & HAS_QUERIES
    trace.put(packed[0], scale if has_queries else None, query if has_queries else None, *packed[1:])
