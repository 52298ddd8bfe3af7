#!/usr/bin/env python3
"""Top-k indices, a numpy array of shape (tokens, layers, k), become a decode trace.

A token is a step, a layer has one head, an index names a unit. -1 is padding, and so is the largest
number of an unsigned array. Needs no numpy.

    traces/convert/npy.py indices.npy -o indices.swt
"""

import ast
import mmap
import os
import struct

import selections
from selections import Fault

MAGIC = b'\x93NUMPY'
TYPES = {'<i4': 'i', '<i8': 'q', '<u4': 'I', '<u8': 'Q'}
LENGTHS = {1: '<H', 2: '<I'}  # of the dictionary, by version


def read_header(data):
    """The letter of struct for an item, the shape, and where the items begin."""
    if data[:6] != MAGIC or len(data) < 12 or data[6] not in LENGTHS:
        raise Fault('not a numpy array of version 1 or 2')
    length = LENGTHS[data[6]]
    begin = 8 + struct.calcsize(length)
    end = begin + struct.unpack_from(length, data, 8)[0]
    try:
        stated = ast.literal_eval(data[begin:end].decode('latin-1').strip())
        kind, is_fortran, shape = stated['descr'], stated['fortran_order'], stated['shape']
    except (ValueError, SyntaxError, KeyError, TypeError) as why:
        raise Fault(f'not the header of a numpy array: {why}')
    if not isinstance(kind, str) or kind not in TYPES or is_fortran:
        raise Fault(f'items of {kind}{" in Fortran order" if is_fortran else ""}\n'
                    f'  expected: {", ".join(TYPES)} in C order')
    if not isinstance(shape, tuple) or len(shape) != 3 or min(shape) < 1:
        raise Fault(f'the shape is {shape}\n  expected: (tokens, layers, k), none of them 0')
    return TYPES[kind], shape, end


def convert(options):
    with open(options.file, 'rb') as file:
        if os.fstat(file.fileno()).st_size == 0:
            raise Fault(f'{options.file}: an empty file')
        data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    letter, (tokens, layers, k), begin = read_header(data)
    row = struct.Struct(f'<{k}{letter}')
    if len(data) - begin != tokens * layers * row.size:
        raise Fault(f'{options.file}: {len(data) - begin} bytes of items\n  expected: '
                    f'{tokens * layers * row.size}, by the shape')
    padding = {-1, (1 << 8 * (row.size // k)) - 1}

    def wanted(token, layer):
        items = row.unpack_from(data, begin + (token * layers + layer) * row.size)
        units = [item for item in items if item not in padding]
        if units and not 0 <= min(units) <= max(units) < 2 ** 32 - 1:
            wrong = next(unit for unit in units if not 0 <= unit < 2 ** 32 - 1)
            raise Fault(f'token {token}, layer {layer}: index {wrong}')
        return units

    selections.write(options.output, 'npy', (tokens, layers, k), wanted, options,
                     options.mass == 'rank')


def main():
    options = selections.parser(__doc__, 'the trace to write (.swt)')
    selections.add_layout(options)
    options.add_argument('--mass', choices=['equal', 'rank'], default='equal',
                         help='attention to assume for the units of a row (default: equal)')
    selections.run(convert, options.parse_args())


if __name__ == '__main__':
    main()
