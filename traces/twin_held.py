"""Do bands hold on texts that no row knows? Prints the tables of docs/bands.md.

    traces/twins.sh held [FOLDER]

Reads the reports of `trace fit --json`: for each model the fitted recording's, then those of the recordings to judge. The
arguments name texts: those that are judged, and, behind --, others that no row knows either.

Figures of one text rise and fall together, so texts are the sample: a text's figure is the share of its figures that lie
outside their bands, and a model's the mean of these over the judged texts. It may be as much as 1 - CHANCE.
"""

import json
import sys
from pathlib import Path

from twin_bands import CHANCE, judge, load_rows, row_of

HITS = ("lru", "fifo")


def judged(shipped, own, report):
    """The figures with bands, as judge() has them, but for those of queries alone."""
    return {name: value for name, value in judge(shipped, own, report).items() if not name.startswith("cosine")}


def outside(bands):
    return [name for name, (_, is_outside) in bands.items() if is_outside]


def widest(bands):
    return max(100 * (band[1] - band[0]) for name, (band, _) in bands.items() if name.startswith(HITS))


def cells(bands):
    return [str(len(outside(bands))), f"{widest(bands):.1f}"] if bands else ["no bands", ""]


def text_of(report):
    """By the name of the recording: MODEL-TEXT-CONTEXT.swt, or MODEL-TEXT.swt of those that ship."""
    parts = Path(report["recording"]).stem.split("-")
    return parts[-2] if parts[-1].isdigit() else parts[-1]


def print_table(*rows):
    for number, row in enumerate(rows):
        print("|", " | ".join(row), "|")
        if number == 0:
            print("|---" * len(row) + "|")


def print_each(shipped, models, unknown):
    """Each recording with all rows, if they do not know it, and without the rows of its model."""
    rows = [["model", "text, context", "outside, of 20", "widest of hits", "without its rows: outside", "widest"]]
    for own, reports in models:
        others = [row for row in shipped if row.model != own[0].model]
        for report in reports:
            here = judged(shipped, own, report) if text_of(report) in unknown else None
            rows.append([report["model"], f"{text_of(report)}, {report['context']}",
                         *(["", ""] if here is None else cells(here)), *cells(judged(others, own, report))])
    print_table(*rows)


def summary(shipped, own, reports):
    """The mean share outside over the texts, how many texts have more than promised, the widest band of hits."""
    bands = [judged(shipped, own, report) for report in reports]
    if not all(bands):
        return ["no bands", "", ""]
    shares = [len(outside(of)) / len(of) for of in bands]
    over = sum(share > 1 - CHANCE + 1e-9 for share in shares)
    return [f"{100 * sum(shares) / len(shares):.0f} %", f"{over} of {len(shares)}", f"{max(map(widest, bands)):.1f}"]


def print_by_text(shipped, models, chosen):
    rows = [["model", "context", f"outside, mean over texts; promised {100 * (1 - CHANCE):.0f} %", "texts with more",
             "widest of hits", "without its rows: outside", "texts with more", "widest"]]
    for own, reports in models:
        others = [row for row in shipped if row.model != own[0].model]
        for context in sorted({report["context"] for report in reports}):
            here = [report for report in reports if report["context"] == context and text_of(report) in chosen]
            if here:
                rows.append([own[0].model, str(context), *summary(shipped, own, here), *summary(others, own, here)])
    print_table(*rows)


def print_misses(shipped, models, unknown):
    for own, reports in models:
        for report in reports:
            missed = outside(judged(shipped, own, report)) if text_of(report) in unknown else []
            if missed:
                print(f"- {report['model']}, {text_of(report)}, {report['context']}: {', '.join(missed)}")


def read_models(lines):
    """(the fitted recording's row in a list, the reports to judge) of each model."""
    models = []
    for report in map(json.loads, lines):
        if report["fitted"]:
            models.append(([row_of(report)], []))
        else:
            models[-1][1].append(report)
    return models


def main():
    split = sys.argv.index("--")
    chosen, unknown = sys.argv[1:split], sys.argv[1:split] + sys.argv[split + 1:]
    shipped, models = load_rows(), read_models(sys.stdin)
    print_by_text(shipped, models, chosen)
    print()
    print_misses(shipped, models, unknown)
    print()
    print_each(shipped, models, unknown)


if __name__ == "__main__":
    main()
