"""Which published figures judged a system: the table of docs/judged.md, made of the rows of scenarios/papers and of
their verdicts on its page; and the counts that README.md takes from that page. Prints TAP; UPDATE=1 writes the table.
Needs PyYAML."""

import glob
import os
import re
import sys

import yaml

PAGE, FIGURES, SHOWN = "scenarios/papers/README.md", "scenarios/papers/figures.md", "docs/judged.md"
BEGIN, END = "<!-- below: tests/script/judged.sh -->\n", "<!-- above: tests/script/judged.sh -->\n"
KINDS = {"geometry": "bytes", "pool": "bytes", "trace": "hits"}  # all other classes are times and rates


def verdicts():
    """{heading: [(what, class, verdict), ...]} of all figures."""
    found, heading = {}, None
    with open(FIGURES, encoding="utf-8") as page:
        for line in page:
            cells = [cell.strip(" *\n") for cell in line.split("|")[1:-1]]
            if line.startswith("## "):
                heading = line[3:].strip()
            elif len(cells) == 7 and cells[-1] in ("met", "missed"):
                found.setdefault(heading, []).append((cells[0], cells[1], cells[-1]))
    return found


def machine_of(given):
    return given["extends"] if isinstance(given, dict) else given


def row_of(rows, what):
    """The row of a file that printed this line: its own words, or these and what was swept."""
    fitting = [row for row in rows if what == row["what"] or what.startswith(row["what"] + ", ")]
    return max(fitting, key=lambda row: len(row["what"]))


def judged():
    """{system: {kind: [met, all], "machines": [...]}}; a rank is of several systems and counts for none."""
    table = {}
    page = verdicts()
    for path in sorted(glob.glob("scenarios/papers/*.yaml") + glob.glob("scenarios/measured/*.yaml")):
        with open(path, encoding="utf-8") as file:
            paper = yaml.safe_load(file)
        for what, kind, verdict in page.get(f"{paper['paper']}: {paper['figure']}", []):
            if kind == "ranking":
                continue
            row = row_of(paper["rows"], what)
            given = {**paper["scenario"], **row.get("set", {})}
            systems = {case["system"] for case in row.get("across", []) if "system" in case} or {given["system"]}
            for system in systems:
                own = table.setdefault(system, {"machines": []})
                count = own.setdefault(KINDS.get(kind, "times"), [0, 0])
                count[0] += verdict == "met"
                count[1] += 1
                across = [case["hardware"] for case in row.get("across", []) if "hardware" in case]
                for machine in map(machine_of, [given["hardware"]] if "hardware" in given else across):
                    if KINDS.get(kind) is None and machine not in own["machines"]:
                        own["machines"].append(machine)
    return table


def counts():
    """{class: (missed, compared)} of the page's table of all classes."""
    found = {}
    with open(PAGE, encoding="utf-8") as page:
        for line in page.read().split("\n## By class\n")[1].split("\n## ")[0].split("\n"):
            cells = [cell.strip(" *") for cell in line.split("|")[1:-1]]
            if len(cells) == 8 and cells[2].isdigit():
                met, missed, later_met, later_missed = map(int, cells[2:6])
                found[cells[0]] = missed + later_missed, met + missed + later_met + later_missed
    return found


def errors():
    """{(class, figure): the cells of its line} of the page's table of errors."""
    with open(PAGE, encoding="utf-8") as page:
        part = page.read().split("\n## How far predictions are off\n")[1].split("\n## ")[0]
    lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.split("\n") if line.startswith("| ")]
    return {(line[0], line[1]): line[1:] for line in lines}


def printed():
    """The counts of all figures that the five papers print, as the page's first table has them."""
    with open(PAGE, encoding="utf-8") as page:
        line = re.search(r"^[|] [*][*]all[*][*] [|] (.*) [|]$", page.read(), re.MULTILINE)
    return line[1].split(" | ")


def claims():
    """What README.md says of the papers and the classes, in its words."""
    found = counts()
    figures, compared, met, _, missing, other, _ = printed()
    off = errors()
    of = {name: f"{missed} of {all}" for name, (missed, all) in found.items()}
    return [f"print {figures} figures of systems: {compared} are compared, of which {met} are met",
            f"{missing} are not compared yet, and {other} cannot be", f"HBM are within 10 % but for {found['bandwidth-bound'][0]}",
            f"pools of KV within 5 % but for {found['pool'][0]}", f"hits within 5 % but for {of['trace']}",
            f"that the CPU manages (RetroInfer) in {of['cpu-managed']} figures",
            f"that the GPU manages (CLO, LiteCache) in {of['gpu-managed']}", f"order of systems in {of['ranking']}",
            f"drafts in {of['drafts']}", f"{off['**all**', ''][2]} measured figures", f"{off['**all**', ''][3]} lay inside",
            *(f"{name} {off[kind, figure][3]}" for name, kind, figure in
              (("TPOT of a dense model at low load", "dense", "TPOT"), ("its TTFT", "dense", "TTFT"),
               ("TPOT of others", "other", "TPOT"), ("their TTFT", "other", "TTFT")))]


def text():
    table = judged()
    shipped = sorted(os.path.basename(path)[:-5] for path in glob.glob("scenarios/systems/*.yaml"))
    lines = ["| system | times and rates met | hits and mass met | bytes met | times are of |", "|---|---:|---:|---:|---|"]
    for system in [name for name in shipped if name in table]:
        own = table[system]
        counts = [f"{own[kind][0]} of {own[kind][1]}" if kind in own else "" for kind in ("times", "hits", "bytes")]
        lines.append(f"| {' | '.join([system, *counts, ', '.join(own['machines'])])} |")
    others = ", ".join(name for name in shipped if name not in table)
    return "\n".join([*lines, "", *wrapped(f"Judged by no figure: {others}.")]) + "\n"


def wrapped(sentence, width=118):
    return re.findall(rf"\S.{{0,{width - 1}}}(?= |$)", sentence)


with open(SHOWN, encoding="utf-8") as file:
    before, rest = file.read().split(BEGIN)
old, after = rest.split(END)
new = "\n" + text() + "\n"
if os.environ.get("UPDATE", "0") != "0":
    with open(SHOWN, "w", encoding="utf-8") as file:
        file.write(before + BEGIN + new + END + after)
    old = new
with open("README.md", encoding="utf-8") as file:
    words = " ".join(file.read().split())
lacking = [claim for claim in claims() if claim not in words]
print("1..2")
print("ok 1" if old == new else "not ok 1", f"- {SHOWN} says which figures judged a system (UPDATE=1 writes it)")
print(*(f"# it lacks: {claim}" for claim in lacking), sep="\n", end="\n" if lacking else "")
print("not ok 2" if lacking else "ok 2", "- README.md says how often each class was missed")
sys.exit(old != new or bool(lacking))
