"""What the five papers print, figure by figure, and which row compares it (scenarios/papers/printed).

    python3 -m spillway.printed FOLDER

prints the table at the head of FOLDER/README.md from FOLDER/printed/*.tsv and the verdicts of FOLDER/figures.md, and
exits with 1 if a figure names a row that does not exist, or if no figure names a row of one of these papers. A line has
a place, quantity, setup and value; `row` is "FILE: TITLE" of a row that judges it, further readings behind "; ", or
`missing`, and then `reason` says what is missing; without any, `reason` says why no row can judge it. Its `kind`:

    system    a time, rate, size or ratio          order    what is faster or larger, or which way it goes
    accuracy  a score or a perplexity              repeat   a system figure that is printed with other digits elsewhere
    derived   worked out from printed figures; not counted
"""

import csv
import glob
import os
import re
import sys

from .published import Fault, Paper

PAPERS = {"clo": "CLO", "litecache": "LiteCache", "capture": "CAPTURE", "hgca": "HGCA", "two-tier": "Two-tier"}
KINDS = ("system", "order", "accuracy", "repeat", "derived")
COLUMNS = ["place", "quantity", "setup", "value", "kind", "row", "reason"]
STATES = ("met", "missed", "missing", "not comparable")


def lines_of(folder, name):
    path = os.path.join(folder, "printed", f"{name}.tsv")
    with open(path, encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        if rows.fieldnames != COLUMNS:
            raise Fault(f"{path}:1: the head is not {' '.join(COLUMNS)}")
        lines = list(rows)
    for number, line in enumerate(lines, 2):
        counted = line["kind"] in ("system", "order")
        if None in line.values() or line["kind"] not in KINDS:
            raise Fault(f"{path}:{number}: a line has {len(COLUMNS)} cells, and its kind is {', '.join(KINDS)}")
        if counted and bool(rows_of(line)) == bool(line["reason"]):
            raise Fault(f"{path}:{number}: the figure needs a row or a reason, and one of them only")
    return lines


def name_of(row):
    return f"{os.path.basename(row.paper.path).removesuffix('.yaml')}: {row.title}"


def rows_of(line):
    return [] if line["row"] in ("", "missing") else line["row"].split("; ")


def faults(folder, papers):
    """What the files and the rows of these papers do not say of each other."""
    names = [name_of(row) for paper in papers for row in paper.rows]
    own = {name_of(row) for paper in papers for row in paper.rows
           if any(word in paper.title for word in PAPERS.values())}
    named = {name: stem for stem in PAPERS for line in lines_of(folder, stem) for name in rows_of(line)}
    return ([f"two rows are called '{name}'" for name in sorted(own) if names.count(name) > 1] +
            [f"printed/{stem}.tsv names no row: '{name}'" for name, stem in named.items() if name not in names] +
            [f"no printed figure names the row '{name}'" for name in sorted(own - set(named))])


def state(line, verdicts):
    """Its first row judges it."""
    rows = rows_of(line)
    return verdicts.get(rows[0], "missing") if rows else "missing" if line["row"] else "not comparable"


def counts(lines, kind, verdicts):
    states = [state(line, verdicts) for line in lines if line["kind"] == kind]
    met, missed, missing, other = (states.count(one) for one in STATES)
    return [len(states), met + missed, met, missed, missing, other]


def table(folder, verdicts):
    """The tables of the five papers; `verdicts` has one for each "FILE: TITLE"."""
    lines = {title: lines_of(folder, stem) for stem, title in PAPERS.items()}
    every = [*lines.items(), ("**all**", [line for own in lines.values() for line in own])]
    text = ("\n## By paper\n\n| paper | figures printed | compared | met | missed | not yet compared | not comparable | "
            "of accuracy |\n|---|---:|---:|---:|---:|---:|---:|---:|\n")
    for title, own in every:
        accuracy = sum(line["kind"] == "accuracy" for line in own)
        text += f"| {title} | {' | '.join(map(str, counts(own, 'system', verdicts)))} | {accuracy} |\n"
    text += ("\n| paper | orders argued | compared | met | missed | not yet compared | not comparable |\n"
             "|---|---:|---:|---:|---:|---:|---:|\n")
    for title, own in every:
        text += f"| {title} | {' | '.join(map(str, counts(own, 'order', verdicts)))} |\n"
    return text


def verdicts_of_page(folder, papers):
    """{"FILE: TITLE": verdict} of figures.md."""
    stems = {paper.heading: os.path.basename(paper.path).removesuffix(".yaml") for paper in papers}
    found, stem = {}, None
    with open(os.path.join(folder, "figures.md"), encoding="utf-8") as page:
        for line in page:
            cells = [cell.strip(" *\n") for cell in line.split("|")[1:-1]]
            if line.startswith("## "):
                stem = stems.get(line[3:].strip())
            elif len(cells) == 7 and cells[-1] in STATES:
                found[f"{stem}: {re.sub('[*]', '', cells[0])}"] = cells[-1]
    return found


def main(words):
    try:
        papers = [Paper(path) for path in sorted(glob.glob(os.path.join(words[0], "*.yaml")))]
        wrong = faults(words[0], papers)
        sys.stdout.write(table(words[0], verdicts_of_page(words[0], papers)))
    except (Fault, OSError) as why:
        sys.exit(f"spillway.printed: {why}")
    if wrong:
        sys.exit("\n".join(f"spillway.printed: {one}" for one in wrong))


if __name__ == "__main__":
    main(sys.argv[1:])
