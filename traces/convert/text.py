#!/usr/bin/env python3
"""A decode trace becomes text (../FORMAT.md, section CSV), and such a text a decode trace again.
Writing that as text gives the same bytes.

    traces/convert/text.py traces/smollm2-135m.swt -o trace.csv
    traces/convert/text.py trace.csv -o trace.swt
"""

import os

import selections
import swt


def write_text(path, output):
    """The file appears once it is whole."""
    part = f'{output}.part'
    try:
        with swt.Reader(path) as trace, open(part, 'w', encoding='utf-8', newline='') as out:
            swt.export_csv(trace, out)
        os.replace(part, output)
    finally:
        if os.path.exists(part):
            os.unlink(part)


def convert(options):
    with open(options.file, 'rb') as file:
        is_trace = file.read(len(swt.MAGIC)) == swt.MAGIC
    if is_trace:
        write_text(options.file, options.output)
        return
    with open(options.file, encoding='utf-8-sig', newline='') as file:
        swt.import_csv(file, options.file, options.output)


def main():
    selections.run(convert, selections.parser(__doc__, 'the text or trace to write').parse_args())


if __name__ == '__main__':
    main()
