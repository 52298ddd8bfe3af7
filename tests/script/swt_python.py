"""Two implementations of one format must agree: on what a trace says, and on what is no trace.

    swt_python.py PROGRAM SCRATCH_FOLDER      prints TAP
"""

import os
import random
import struct
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..')
sys.path.insert(0, os.path.join(ROOT, 'traces'))
import swt

PROGRAM, SCRATCH = sys.argv[1:]
SHIPPED = os.path.join(ROOT, 'traces', 'smollm2-135m.swt')
SEED = 5
FLIPS = 300
HAS_ZSTD = swt.zstd_compress is not None
NO_ZSTD = "the Python package 'zstandard' is missing"


def path(name):
    return os.path.join(SCRATCH, name)


def c(*arguments):
    return subprocess.run([PROGRAM, 'trace', *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def c_export(trace):
    return c('export', trace).stdout.decode()


def python_export(trace):
    with swt.Reader(trace) as reader, open(path('python.csv'), 'w+', encoding='utf-8') as out:
        swt.export_csv(reader, out)
        out.seek(0)
        return out.read()


# ---- random traces -------------------------------------------------------------------------------


def make_header(**changes):
    header = dict(layers=2, kv_heads=2, query_heads=4, head_dim=3, context=300, unit_kind=0,
                  unit_tokens=1, units=300, sinks=2, recent=3, keep=6, sequences=2, steps=7,
                  steps_per_tile=4, flags=3, source={'model': 'nöne "quoted"'})
    return swt.Header(**{**header, **changes})


def random_row(header, rng, has_rest=True):
    first, end = header.window
    kept = rng.sample(range(first, end), rng.randint(0, min(header.keep, end - first)))
    units = [*range(first), *sorted(kept), *range(end, header.units)]
    rest = (rng.random(), rng.random()) if has_rest else ()
    return swt.pack_row(units, bytes(rng.randrange(256) for _ in units), *rest)


def write_random(name, header, seed):
    rng = random.Random(seed)
    with swt.Writer(path(name), header) as writer:
        for number in range(header.frame_count):
            steps = header.tile_steps(header.place(number)[1])
            queries = header.query_heads * steps
            rows = [random_row(header, rng) for _ in range(header.kv_heads * steps)]
            scale = query = approximate = None
            if header.flags & swt.HAS_QUERIES:
                scale = [rng.random() for _ in range(queries)]
                query = rng.randbytes(queries * header.head_dim)
            if header.flags & swt.HAS_APPROXIMATE:
                approximate = [random_row(header, rng, False) for _ in rows]
            writer.put(rows, scale, query, approximate)
    return path(name)


HEADERS = (make_header(), make_header(flags=0), make_header(flags=1, unit_tokens=7, units=43),
           make_header(flags=2, unit_kind=1, units=20, unit_tokens=15, steps_per_tile=1),
           make_header(flags=0, sinks=0, recent=0, keep=0))


# ---- tests: None, or what is wrong ---------------------------------------------------------------


def python_writes_what_c_reads():
    for i, header in enumerate(HEADERS):
        trace = write_random('random.swt', header, SEED + i)
        if c_export(trace) != python_export(trace) or c('verify', trace).returncode != 0:
            return f'header {i}'


def c_writes_what_python_reads():
    for i, header in enumerate(HEADERS):
        trace = write_random('random.swt', header, SEED + i)
        text = python_export(trace)
        if c('import', path('python.csv'), '-o', path('c.swt')).returncode != 0:
            return f'header {i}: not imported'
        if python_export(path('c.swt')) != text:
            return f'header {i}'


def the_shipped_trace_says_the_same_to_both():
    return None if c_export(SHIPPED) == python_export(SHIPPED) else 'other text'


def a_copy_of_the_shipped_trace_is_the_same():
    """Its first tile, written by Python, read and written by C, read by Python."""
    with swt.Reader(SHIPPED) as reader:
        header = reader.header
        header.steps = header.steps_per_tile
        with swt.Writer(path('copy.swt'), header) as writer:
            for layer in range(header.layers):
                frame = reader.frame(0, 0, layer)
                writer.put([swt.pack_row(row.units, row.codes, row.born, row.tail)
                            for row in frame.rows], frame.scale,
                           b''.join(struct.pack(f'{header.head_dim}b', *q) for q in frame.query))
    text = python_export(path('copy.swt'))
    c('export', path('copy.swt'), '-o', path('copy.csv'))
    c('import', path('copy.csv'), '-o', path('again.swt'))
    return None if text == python_export(path('again.swt')) else 'other text'


# ---- broken files, with checksums that hold ------------------------------------------------------


def parts_of(data):
    """Header, frames, index without checksum, footer without place."""
    size, = struct.unpack_from('<I', data, 12)
    place, = struct.unpack_from('<Q', data, len(data) - 16)
    offsets = [*struct.unpack(f'<{(len(data) - 24 - place) // 8}Q', data[place:-24]), place]
    frames = [data[a:b] for a, b in zip(offsets, offsets[1:])]
    return data[:size - 8], frames


def join(header, frames, index=None):
    data = swt.with_checksum(header)
    offsets = []
    for frame in frames:
        offsets.append(len(data))
        checksum = struct.pack('<Q', swt.xxh64(frame[:28] + frame[36:]))
        data += frame[:28] + checksum + frame[36:]
    index = index or struct.pack(f'<{len(offsets)}Q', *offsets)
    return data + swt.with_checksum(index) + struct.pack('<Q', len(data)) + swt.END_MAGIC


def with_u32(data, offset, value):
    return data[:offset] + struct.pack('<I', value % 2 ** 32) + data[offset + 4:]


def broken_files(data, rng):
    header, frames = parts_of(data)
    assert join(header, frames) == data
    for offset in range(8, 80, 4):
        old, = struct.unpack_from('<I', header, offset)
        for value in {0, 1, old - 1, old + 1, 2 * old, 257, 1025, 2 ** 31, 2 ** 32 - 1}:
            yield join(with_u32(header, offset, value), frames)
    for source in b'{}', b'[]', b'{"a": NaN}', b'{"a": 1} x', b'', b'{"a": "\xff"}', b'{"a": [1, 2]}':
        changed = with_u32(header[:80] + source, 76, len(source))
        yield join(with_u32(changed, 12, len(changed) + 8), frames)
    for offset in range(0, 28, 4):
        old, = struct.unpack_from('<I', frames[1], offset)
        for value in old - 1, old + 1, 0, 2 ** 32 - 1:
            yield join(header, [frames[0], with_u32(frames[1], offset, value), *frames[2:]])
    for _ in range(FLIPS):
        frame, at = rng.randrange(len(frames)), rng.randrange(36, len(frames[0]))
        byte = bytes((rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256))),))
        changed = frames[frame][:at] + byte + frames[frame][at + 1:]
        yield join(header, [*frames[:frame], changed, *frames[frame + 1:]])
    payload = frames[0] + b'\0'  # a byte too many
    payload = with_u32(with_u32(payload, 20, len(payload) - 36), 24, len(payload) - 36)
    yield join(header, [payload, *frames[1:]])
    yield join(header, frames[::-1])
    yield join(header, frames, b'\0' * 8 * len(frames))
    yield data + b'\0'
    yield from (data[:size] for size in range(0, len(data), 97))


def python_reads(trace):
    try:
        with swt.Reader(trace) as reader:
            for _ in reader.frames():
                pass
        return True
    except swt.FormatError:
        return False


def both_refuse_the_same_files():
    swt.zstd_compress, compress = None, swt.zstd_compress  # payloads that can be changed
    try:
        trace = write_random('random.swt', make_header(context=40, units=40, sequences=1), SEED)
    finally:
        swt.zstd_compress = compress
    with open(trace, 'rb') as file:
        data = file.read()
    refused = 0
    for i, broken in enumerate(broken_files(data, random.Random(SEED))):
        with open(path('broken.swt'), 'wb') as file:
            file.write(broken)
        c_status = c('verify', path('broken.swt')).returncode
        python_status = 0 if python_reads(path('broken.swt')) else 1
        if c_status != python_status:
            return f'file {i}, seed {SEED}: C says {c_status}, Python {python_status}'
        refused += c_status
    print(f'# {i + 1} files, {refused} of them refused')
    return None if 0 < refused <= i else 'all or none'


TESTS = ((python_writes_what_c_reads, False), (c_writes_what_python_reads, True),
         (the_shipped_trace_says_the_same_to_both, True),
         (a_copy_of_the_shipped_trace_is_the_same, True), (both_refuse_the_same_files, False))


def main():
    print(f'1..{len(TESTS)}')
    failures = 0
    for number, (test, needs_zstd) in enumerate(TESTS, 1):
        if needs_zstd and not HAS_ZSTD:
            print(f'ok {number} - {test.__name__} # SKIP {NO_ZSTD}')
            continue
        fault = test()
        failures += fault is not None
        print(f'{"ok" if fault is None else "not ok"} {number} - {test.__name__}')
        if fault is not None:
            print(f'# {fault}')
    return failures > 0


if __name__ == '__main__':
    sys.exit(main())
