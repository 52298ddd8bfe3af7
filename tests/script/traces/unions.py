"""Unions of adjacent demands, counted a second time from the recordings' rows; and how well a twin
keeps them.

    unions.py PROGRAM SCRATCH_FOLDER [all]
        prints TAP; all: every layer of each recording, not only its first

The count shares nothing with the program's: it reads traces with traces/swt.py, chooses demands by
the words of sim/trace/demand.h, and forms the union of each run of steps as a set.
"""

import ctypes
import ctypes.util
import glob
import json
import os
import subprocess
import sys

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..')
sys.path.insert(0, os.path.join(ROOT, 'traces'))
import swt

PROGRAM, SCRATCH, EVERY = *sys.argv[1:3], 'all' in sys.argv[3:]
MOST_DRAFTS = 8
SHARE = 0.1
TWIN = 'gemma-3-270m'  # of all recordings, the one whose twin keeps unions worst: 2.9 % at 8 drafts
TWIN_OFF = 0.04        # that a twin's unions may be off


def library_decompress(name):
    """zstd of the C library, where Python has none of its own."""
    zstd = ctypes.CDLL(name)
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    room = ctypes.create_string_buffer(swt.PAYLOAD_MOST)

    def decompress(data):
        size = zstd.ZSTD_decompress(room, ctypes.c_size_t(len(room)), data,
                                    ctypes.c_size_t(len(data)))
        return ctypes.string_at(room, size) if size <= len(room) else b''
    return decompress


def demand(header, row):
    """The best units outside the window: by mass, then by position."""
    first, end = header.window
    ranked = sorted((code, unit) for unit, code in zip(row.units, row.codes) if first <= unit < end)
    return {unit for _, unit in ranked[:int(SHARE * header.units + 0.5)]}


def heads_of(trace, layers):
    """The demands of each head, step by step."""
    h = trace.header
    for sequence in range(h.sequences):
        for layer in layers:
            steps = [[] for _ in range(h.kv_heads)]
            for tile in range(h.tiles):
                rows, size = trace.frame(sequence, tile, layer).rows, h.tile_steps(tile)
                for head in range(h.kv_heads):
                    steps[head] += [demand(h, row) for row in rows[head * size:(head + 1) * size]]
            yield from steps


def count(path, layers):
    found = [{'drafts': n, 'runs': 0, 'attended': 0, 'union': 0}
             for n in range(1, MOST_DRAFTS + 1)]
    with swt.Reader(path) as trace:
        for demands in heads_of(trace, layers or range(trace.header.layers)):
            for sums in found:
                runs = [demands[i:i + sums['drafts'] + 1]
                        for i in range(len(demands) - sums['drafts'])]
                sums['runs'] += len(runs)
                sums['attended'] += sum(len(one) for run in runs for one in run)
                sums['union'] += sum(len(set().union(*run)) for run in runs)
    return found


def stats(path, layers):
    options = ['--layers', ','.join(map(str, layers))] if layers else ['--layers', 'all']
    return json.loads(subprocess.run([PROGRAM, 'trace', 'stats', path, '--json', *options],
                                     stdout=subprocess.PIPE, check=True).stdout)


def model_layer(path):
    """The first layer of the recording, as the model counts it."""
    return stats(path, None)['heads'][0]['layer']


def demands_in_union(sums):
    return sums['union'] / sums['attended'] * (sums['drafts'] + 1)


def twin_is_near():
    """Unions of a generated trace, beside those of the recording that its profile was fitted to."""
    profile, twin = (os.path.join(SCRATCH, 'twin' + end) for end in ('.yaml', '.swt'))
    recorded = stats(TWIN, None)['unions']
    for command in (['fit', TWIN, '-o', profile],
                    ['generate', profile, '--steps', str(recorded[0]['runs'] // 3 + 1), '-o', twin]):
        subprocess.run([PROGRAM, 'trace', *command], stdout=subprocess.DEVNULL, check=True)
    off = [demands_in_union(a) / demands_in_union(b) - 1
           for a, b in zip(stats(twin, None)['unions'], recorded)]
    print(f'# twin of {TWIN}, by drafts: ' + ', '.join(f'{100 * x:+.1f} %' for x in off))
    return all(abs(x) <= TWIN_OFF for x in off)


def main():
    if swt.zstd_decompress is None:
        library = ctypes.util.find_library('zstd')
        if library is None:
            print('1..0 # SKIP neither Python nor the system has zstd')
            return
        swt.zstd_decompress = library_decompress(library)
    recordings = sorted(glob.glob(os.path.join(ROOT, 'traces', '*.swt')))
    print(f'1..{len(recordings) + 1}')
    for number, path in enumerate(recordings, 1):
        said = stats(path, None if EVERY else [model_layer(path)])['unions']
        counted = count(path, None if EVERY else [0])
        print(f'{"ok" if said == counted else "not ok"} {number} - '
              f'{os.path.basename(path)}: unions of 1 to {MOST_DRAFTS} drafts')
        for a, b in zip(said, counted):
            if a != b:
                print(f'# the program has {a}\n# counted are {b}')
    print(f'{"ok" if twin_is_near() else "not ok"} {len(recordings) + 1} - '
          f'a twin keeps unions within {100 * TWIN_OFF:g} %')


main()
