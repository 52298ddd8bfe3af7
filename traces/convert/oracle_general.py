#!/usr/bin/env python3
"""libCacheSim's oracleGeneral (time, object, size, next access; github.com/1a1a11a/libCacheSim) becomes
a plain stream of ids: little-endian 32-bit numbers, which table.py and `spillway curve` read.

Objects are numbered in order of appearance. Each is one unit, whatever its size.

    traces/convert/oracle_general.py requests.oracleGeneral -o requests.u32
    traces/convert/table.py requests.u32 -o requests.swt
"""

import array
import os
import struct
import sys

import selections
from selections import Fault

RECORD = struct.Struct('<IQIq')


def convert(options):
    numbers, stream = {}, array.array('I')
    size = os.path.getsize(options.file)
    if size == 0 or size % RECORD.size != 0:
        raise Fault(f'{options.file}: {size} bytes\n  expected: records of {RECORD.size} bytes, not '
                    'compressed')
    with open(options.file, 'rb') as file:
        while block := file.read(RECORD.size << 12):
            for _, item, _, following in RECORD.iter_unpack(block):
                if following != -1 and following <= len(stream):
                    raise Fault(f'record {len(stream)}: its next access is record {following}, which '
                                'is not later')
                stream.append(numbers.setdefault(item, len(numbers)))
    if sys.byteorder == 'big':
        stream.byteswap()
    with open(options.output, 'wb') as out:
        stream.tofile(out)


def main():
    selections.run(convert, selections.parser(__doc__, 'the stream to write (.u32)').parse_args())


if __name__ == '__main__':
    main()
