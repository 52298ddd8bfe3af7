#!/usr/bin/env python3
"""A trace as text (../FORMAT.md, section CSV), as `spillway trace export` writes it, becomes a decode
trace again. Exporting that gives the same text.

    spillway trace export smollm2-135m -o trace.csv
    traces/convert/text.py trace.csv -o trace.swt
"""

import selections
import swt


def convert(options):
    with open(options.file, encoding='utf-8-sig', newline='') as file:
        swt.import_csv(file, options.file, options.output)


def main():
    selections.run(convert, selections.parser(__doc__, 'the trace to write (.swt)').parse_args())


if __name__ == '__main__':
    main()
