"""Two implementations of one format must agree: on what a trace says, and on what is no trace.

    swt_python.py PROGRAM SCRATCH_FOLDER      prints TAP
"""

import io
import os
import random
import re
import struct
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
sys.path.insert(0, os.path.join(ROOT, 'traces'))
import swt

PROGRAM, SCRATCH = sys.argv[1:]
SHIPPED = os.path.join(ROOT, 'traces', 'smollm2-135m.swt')
SEED = 5
FLIPS = 100
HAS_ZSTD = swt.zstd_compress is not None or swt.library('zstd') is not None
NO_ZSTD = 'neither Python nor the system has zstd'


def path(name):
    return os.path.join(SCRATCH, name)


def c(*arguments):
    return subprocess.run([PROGRAM, 'trace', *arguments], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, check=False)


def c_counts(trace):
    """What the program finds in a whole trace: frames, rows, units."""
    said = c('verify', trace).stdout.decode()
    return [int(number) for number in re.findall(r'(\d+) (?:frame|row|unit)', said)]


def python_counts(trace):
    with swt.Reader(trace) as reader:
        frames = list(reader.frames())
    rows = [row for frame in frames for row in frame.rows]
    return [len(frames), len(rows), sum(len(row.units) for row in rows)]


def c_figures(trace):
    """Means over all heads, of everything that is stored but approximate masses."""
    return c('stats', trace, '--json', '--layers', 'all', '--selection', '1%').stdout


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
        if c_counts(trace) != python_counts(trace):
            return f'header {i}'


def c_writes_what_python_reads():
    """And Python writes it again, so that the program finds the same figures."""
    if c('generate', 'smollm2-135m', '--context', '256', '--steps', '6', '-o', path('c.swt')).returncode != 0:
        return 'not generated'
    if c_counts(path('c.swt')) != python_counts(path('c.swt')):
        return 'other counts'
    figures, again = c_figures(path('c.swt')), c_figures(import_text(python_export(path('c.swt'))))
    return None if figures and figures == again else 'other figures'


def a_trace_that_was_text_is_the_same():
    for i, header in enumerate(HEADERS):
        text = python_export(write_random('random.swt', header, SEED + i))
        if python_export(import_text(text)) != text or c_counts(path('text.swt')) != c_counts(path('random.swt')):
            return f'header {i}'


def import_text(text):
    swt.import_csv(io.StringIO(text), 'x.csv', path('text.swt'))
    return path('text.swt')


HEAD = """# swt 1 layers=1 kv_heads=1 query_heads=2 head_dim=2 context=10 unit_kind=0 unit_tokens=1 \
units=10 sinks=1 recent=1 keep=2 sequences=1 steps=2 steps_per_tile=2 flags=3
# source {"model": "by hand"}
sequence,step,layer,head,unit,mass
"""
STEP = """0,0,0,0,born,0.25
0,0,0,0,tail,0.125
0,0,0,0,0,0.5
0,0,0,0,4,0.0625
0,0,0,0,9,2.107e-08
0,0,0,0,~0,1
0,0,0,0,~9,0.933
0,0,0,0,query,0.5 1 -2
0,0,0,1,query,0.100000001 127 -128
"""
NEXT = STEP.replace('0,0,0,', '0,1,0,')
ROW = '0,0,0,0,born,0\n0,0,0,0,tail,0\n'


def other_ways_to_write_the_same_are_read():
    """Blanks, quotes, exponents, carriage returns, the nearest code, approximate units first."""
    other = (HEAD + '0,0,0,0,born, 2.5e-1\r\n0, 0,0,0,"tail",.125\n0,0,0,0,~0,1.0005\n0,0,0,0,00,0.49\n'
             '0,0,0,0,4,0.0625\n0,0,0,0,9,0\n0,0,0,0,~9,0.93\n0,0,0,0,query,.5 1 -2\n'
             '0,0,0,1,query,0.1 127 -128\n' + NEXT.rstrip())
    return None if python_export(import_text(other)) == HEAD + STEP + NEXT else 'other text'


def malformed_text_is_refused():
    """Each text with the line that is to blame."""
    cases = (('', 1), ('a,b\n', 1), ('# swt 2 layers=1\n', 1), ('# swt 1 layers=1\n', 2),
             (HEAD.replace('layers=1', 'layers=-1'), 1), (HEAD.replace('flags=3', 'flags=3 x=1'), 1),
             (HEAD + '0,0,0,0,born\n', 4), (HEAD + '\n', 4), (HEAD + '0,0,0,0,born,0,\n', 4),
             (HEAD + 'x,0,0,0,born,0\n', 4), (HEAD + '0,0,0,0,burn,0\n', 4),
             *((f'{HEAD}0,0,0,0,born,{number}\n0,0,0,0,tail,0\n', 5)
               for number in ('', '1e', 'nan', '0x1', '-0.1', '1.01', '1_0', 'inf')),
             (HEAD + '0,0,0,0,tail,0\n', 4), (HEAD + '0,0,0,0,born,0\n0,0,0,0,0,0\n', 5),
             (HEAD + ROW + '0,0,0,0,10,0\n', 6), (HEAD + ROW + '0,1,0,0,1,0\n', 6),
             (HEAD + ROW + '0,0,0,0,1,0\n0,0,0,0,1,0\n', 7), (HEAD + ROW + '0,0,0,0,~,0\n', 6),
             (HEAD.replace('flags=3', 'flags=1') + STEP, 9),
             *((f'{HEAD}{ROW}0,0,0,0,query,{query}\n0,0,0,1,query,0 0 0\n', 7)
               for query in ('1 2', '1 2 3 4', '1 2 128', '1 2 x', 'x 2 3')),
             (HEAD + STEP, 13), (HEAD + STEP + STEP, 13), (HEAD + NEXT, 4),
             (HEAD + STEP + NEXT + '0,2,0,0,born,0\n', 22), (HEAD + STEP + ROW, 13))
    for text, line in cases:
        try:
            import_text(text)
            return f'read: {text}'
        except swt.FormatError as why:
            if f'x.csv:{line}:' not in str(why):
                return f'{why}, not line {line}'
        if os.path.exists(path('text.swt.part')):
            return 'an unfinished file is left'
    try:  # a row without the sink of its window
        import_text(HEAD + STEP.replace('0,0,0,0,0,0.5\n', '') + NEXT)
        return 'a row lacks its sink'
    except swt.FormatError:
        return None


def the_shipped_trace_says_the_same_to_both():
    return None if c_counts(SHIPPED) == python_counts(SHIPPED) else 'other counts'


def a_copy_of_the_shipped_trace_is_the_same():
    """Two layers of its first tile, written by Python from frames, read from text, and written as text."""
    with swt.Reader(SHIPPED) as reader:
        header = reader.header
        header.layers, header.steps = 2, header.steps_per_tile
        with swt.Writer(path('copy.swt'), header) as writer:
            for layer in range(header.layers):
                frame = reader.frame(0, 0, layer)
                writer.put([swt.pack_row(row.units, row.codes, row.born, row.tail)
                            for row in frame.rows], frame.scale,
                           b''.join(struct.pack(f'{header.head_dim}b', *q) for q in frame.query))
    text = python_export(path('copy.swt'))
    return None if text == python_export(import_text(text)) else 'other text'


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
         (a_trace_that_was_text_is_the_same, False), (other_ways_to_write_the_same_are_read, False),
         (malformed_text_is_refused, False),
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
