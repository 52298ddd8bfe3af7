"""Hold predictions against the figures that papers and benchmarks publish.

    python3 -m spillway.papers FILE... [--errors FILE] [--points FILE] [--printed FOLDER] [--orders REGEX] [--jobs N]

prints two pages of Markdown: counts by source and class, error bands and the misses; and behind FIGURES, a table for
each file with the likely cause of each miss. --errors also writes the bands, which the program reads as
scenarios/error-bands.yaml, and --points what accuracy.gp draws; --printed first counts what the five papers print
(printed.py). --orders prints the lines of orders whose titles match, and runs nothing else. A file states published
figures and the runs that predict them; scenarios/papers/rules.md explains its keys. Needs PyYAML.

Each run is made once, with the figures of its machine at both ends of their ranges (`simulate --explain --json`). The
error of a row is predicted divided by published, less 1; it is 0 within a published range. A row is met if its error
is within the tolerance of its class.
"""

import argparse
import json
import math
import os
import re
import statistics
import sys

from . import printed
from .call import Error
from .error_model import Figure, Model, alike, class_of, left_out, one_known
from .published import SERVED, Fault, Paper, predict, written

# ---- the value of a row ----------------------------------------------------------------------------------------------

SPEEDS = {"step_us": 1, "layer_us": 1, "tpot_ms": 1, "decode_tokens_per_s": -1, "tokens_per_s_per_user": -1,
          "tokens_per_s_per_gpu": -1, "e2e_tokens_per_s": -1}
SCALES = {"_us": 1e3, "_ms": 1e6}


def value_of(column, run):
    """A term of a formula in its base unit; NaN if the run has none."""
    if column == "layers":
        return run["explain"]["layers"] or math.nan
    if column == "run_busy_share":  # prompts and decoding; during prompts the GPU is taken to be busy
        prefill, step = value_of("prefill_ms", run), value_of("step_us", run)
        whole = (prefill - step) / (1 - value_of("e2e_tokens_per_s", run) * step / 1e9 / run["batch"])
        return 1 - (1 - run["gpu_busy_share"]) * (1 - prefill / whole)
    if "." in column:
        group, name = column.split(".")
        items = run.get(f"{group}_us")
        return items[name] * 1e3 if items else math.nan
    if column not in run:
        raise Fault(f"'{column}' is not a figure of a result\n  expected: a column of 'spillway simulate --json'")
    return math.nan if run[column] is None else run[column] * SCALES.get(column[-3:], 1)


def total(formula, run):
    return sum(value_of(column, run) for column in formula) if formula else 1


# ---- a row -----------------------------------------------------------------------------------------------------------

TOLERANCES = {"geometry": 1e-9, "trace": 0.05, "pool": 0.05, "bandwidth-bound": 0.10, "gpu-managed": 0.10,
              "cpu-managed": 0.30, "cpu-attention": 0.30, "disk": 0.30, "drafts": 0.10, "dense server": 0.10, "MoE server": 0.15, "tiered server": 0.15,
              "saturated server": 0.15, "ranking": None}
BASES = ["measured", "published", "datasheet", "assumed"]


def fits(run):
    return run["status"] == "ok"


class Judge:
    """What the runs of a row come to."""

    def __init__(self, row, runs):
        self.row = row
        self.cases = [{role: runs[json.dumps(layers)] for role, layers in case.items()} for case in row.cases]
        self.assumed = [(key, value, {role: runs[json.dumps(layers)] for role, layers in case.items()})
                        for key, value, case in row.assumed]
        self.run = next(iter(self.cases[0].values())) if self.cases else None
        self.kind = self.classify()
        self.tolerance = TOLERANCES.get(self.base_kind())
        self.predicted = self.error = math.nan
        self.at = (0, None)
        self.least = self.most = self.suspect = None
        self.merits = [self.merit(case) for case in self.cases] if row.ranks else []
        if row.ranks:
            met = all(a > b for a, b in zip(self.merits, self.merits[1:]))
        elif self.run is not None:
            self.predicted, self.at = self.across(lambda role, run: run)
            self.error = self.error_of(self.predicted)
            self.read_ranges()
            met = abs(self.error) <= self.tolerance
        else:
            met = False
        self.verdict = "not comparable" if row.reason is not None else "met" if met else "missed"

    # The class of the row, by what it depends on: bytes, demands, or the clock.

    def base_kind(self):
        """The class that sets its tolerance."""
        if self.run is None or not (self.row.figure or (self.kind or "").endswith("server")):
            return self.kind
        return next((f"{word} server" for word in ("saturated", "tiered", "MoE") if word in self.kind), "dense server")

    def saturated(self):
        return self.run["explain"]["class"].startswith("saturated ")

    def within(self, first, last):
        names = list(self.run)
        inside = set(names[names.index(first):names.index(last) + 1])
        return all(column in inside for column in [*self.row.take, *self.row.over])

    def classify(self):
        row = self.row
        if row.ranks:
            return "ranking"
        if row.kind or self.run is None:
            return row.kind
        if row.figure:
            return f"{self.run['explain']['class']} {SERVED[row.figure][1]}"
        if self.within("budget_bytes", "limited_by"):
            return "geometry"
        if self.within("hit_ratio", "d2h_bytes_per_step"):
            return "trace"
        return "pool" if row.take == ["kv_blocks"] else self.run["explain"]["class"]

    # Its value.

    def merit(self, case):
        """What a ranking sorts by, larger first; a case that does not fit comes last."""
        row = self.row
        least = row.node.get("first", "least" if SPEEDS.get(row.take[0]) == 1 and len(case) == 1 else "most") == "least"
        value = self.of_case(case, case)[0]
        return -math.inf if math.isnan(value) else -value if least else value

    def take(self, formula, case, changed, role):
        """Memory does not depend on a figure's range: a run that was timed again lacks it."""
        value = total(formula, changed[role])
        return total(formula, case[role]) if math.isnan(value) else value

    def of_case(self, case, changed):
        """The value of a case, and the run that it was divided by: the best, of those that fit."""
        row, rivals = self.row, [role for role in case if role.startswith("against")]
        speed = SPEEDS.get(row.take[0], 0) if len(row.take) == 1 else 0
        times = {role: speed * self.take(row.take, case, changed, role) for role in rivals}
        fit = [role for role in rivals if not math.isnan(times[role])]
        best = min(fit, key=times.get) if fit else rivals[0] if rivals else None
        value = self.take(row.take, case, changed, "run")
        if "minus" in case:
            value -= self.take(row.take, case, changed, "minus")
        divisor = self.take(row.take if best and not row.over else row.over, case, changed, best or "run")
        value = value / divisor if divisor else math.nan if value == 0 else math.copysign(math.inf, value)
        return value * 1e9 if row.unit == "bytes/s" else value, best

    def across(self, change, cases=None):
        """The value at the row's end of all its cases, and which case and run decide it; NaN if none fits."""
        values = []
        for i, case in enumerate(cases or self.cases):
            values.append((*self.of_case(self.cases[i], {role: change(role, run) for role, run in case.items()}), i))
        fit = [one for one in values if not math.isnan(one[0])]
        if not fit:
            return math.nan, (0, None)
        if self.row.end == "mean":
            mean = statistics.geometric_mean if self.row.unit == "times" else statistics.mean
            return mean([one[0] for one in fit]), (0, None)
        value, best, i = (min if self.row.end == "least" else max)(fit, key=lambda one: one[0])
        return value, (i, best)

    def error_of(self, predicted):
        row = self.row
        if row.most == 0:
            return math.nan
        if math.isnan(predicted):  # it was published, and does not fit by the prediction
            return -1
        return (predicted / row.least if predicted < row.least else
                predicted / row.most if predicted > row.most else 1) - 1

    # Why it is off: one thing is changed at a time, a figure of the machine or a key that the paper's file calls assumed.

    def read_ranges(self):
        ends = {}
        for run in (run for case in self.cases for run in case.values()):
            for end in run["explain"]["ends"]:
                ends.setdefault((end["figure"], end["share"]), end)
        self.least = self.most = self.suspect = {"name": None, "error": self.error, "share": 1, "basis": "measured"}
        for (figure, share), end in ends.items():
            def change(_, run):
                return next(({**run, **one["changes"]} for one in run["explain"]["ends"]
                             if (one["figure"], one["share"]) == (figure, share)), run)
            self.note_end(figure, end["basis"], share, None, self.across(change)[0])
        for key, value, case in self.assumed:
            text = value if isinstance(value, str) else "an end"
            self.note_end(key, "assumed", 1, text, self.across(lambda role, run: run, [case])[0])

    def note_end(self, name, basis, share, value, predicted):
        end = {"name": name, "basis": basis, "share": share, "value": value, "error": self.error_of(predicted)}
        self.least = end if end["error"] < self.least["error"] else self.least
        self.most = end if end["error"] > self.most["error"] else self.most
        if self.error * end["error"] <= 0 and self.error != end["error"]:  # it overshoots: where is the error 0?
            way = self.error / (self.error - end["error"])
            end = {**end, "share": 1 + way * (share - 1), "error": 0}
        if self.explains(end) < self.explains(self.suspect):
            self.suspect = end

    @staticmethod
    def explains(end):
        """Ends that explain a miss better come first: near, then on a bad basis, then by a small change."""
        return (abs(end["error"]), end["name"] is None and -1, -BASES.index(end["basis"]), abs(math.log(end["share"])))

    # What bands are made of.

    def factor(self):
        """How far it is off, at least 1; None if it shows no error."""
        row = self.row
        wide = row.most > row.least * (1 + (self.tolerance or 0))
        if row.ranks or self.verdict == "not comparable" or not self.error > -1 or wide and self.verdict == "met":
            return None
        return math.exp(abs(math.log1p(self.error)))

    def times_step(self):
        """Does it show how wrong the rate of a whole step is?"""
        row = self.row
        if row.figure:
            return True
        if len(row.take) != 1 or row.take[0] not in SPEEDS or row.over or "minus" in self.cases[0]:
            return False
        rival = self.cases[0].get("against 0")
        return rival is None or rival["explain"]["class"].endswith(("bandwidth-bound", "server"))


# ---- how far predictions are off -------------------------------------------------------------------------------------

WORST = 20
CLASSES = ["bandwidth-bound", "gpu-managed", "cpu-managed", "disk", "drafts"]


def source_of(judge):
    return judge.row.node.get("source", judge.row.paper.title)


def server_of(judge):
    """The server of a figure: its source, and what tells the source's servers apart."""
    return source_of(judge), *(judge.run[key] for key in ("model", "hardware", "system", "dtype_weights", "gpus"))


def figures_of(judges, source=source_of):
    """What the errors are made of: rates of whole steps by class of system, and what servers of an engine measured."""
    found = []
    for judge in judges:
        row = judge.row
        if judge.factor() is None or not judge.times_step() or row.paper.older:
            continue
        kind = judge.run["explain"]["class"] if row.figure else judge.kind
        metric = SERVED[row.figure][1] if row.figure else "step"
        queued = metric == "TTFT" and judge.saturated()  # it is the length of a queue
        if queued or kind == "other server" or not row.figure and kind not in CLASSES:
            continue
        slow = not row.figure and SPEEDS[row.take[0]] == 1
        y = math.log1p(judge.error) * (1 if slow else -1)
        found.append(Figure(metric, kind, source(judge), y))
    return found


def systems_of(judges):
    """The published systems, as the program names them."""
    own = [judge for judge in judges if not judge.row.figure and judge.kind in CLASSES and judge.factor() and judge.times_step()]
    return list(dict.fromkeys(judge.run["explain"]["system"] for judge in own))


ERRORS_HEAD = """\
# Written by `make papers UPDATE=1` (python/spillway/error_model.py): eight of ten figures that a new source
# measures lie between the predicted one times `least` and times `most`. Of systems, the rate of decode; dense:
# servers of dense models at low load with prefixes on the GPU (vLLM, SGLang); other: other servers.
# `alike` is how figures of one server correlate, in logarithms.
"""


class Errors:
    """The error of each class, from all figures."""

    def __init__(self, judges):
        self.figures = figures_of(judges)
        self.model, self.systems = Model(self.figures), systems_of(judges)
        self.served = figures_of([judge for judge in judges if judge.row.figure], server_of)
        order = {name: i for i, name in enumerate(["step", "TTFT", "TPOT", "tok/s"])}
        self.ends = {key: tuple(round(end, 3) for end in self.model.ends(key)) for key, own in self.model.classes.items()
                     if len(own) > 1}
        self.keys = sorted(self.ends, key=lambda key: (order[key[0]], key[1]))

    def lines(self):
        """The file that the program reads."""
        text = ERRORS_HEAD + (f"alike: {100 * alike(self.served):.1f}%\n" if self.served else "")
        for metric, name in self.keys:
            least, most = self.ends[metric, name]
            text += (f"{name if metric == 'step' else f'{name} {metric}'}: "
                     f"{{figures: {len(self.model.classes[metric, name])}, sources: {self.model.sources((metric, name))}, "
                     f"least: {least:.3f}x, most: {most:.3f}x" +
                     (f', systems: "{", ".join(self.systems)}"' if metric == "step" else "") + "}\n")
        return text

    def shown(self):
        text = ("\n## How far predictions are off\n\n| class | figure | figures | sources | 8 of 10 of a new source |\n"
                "|---|---|---:|---:|---|\n")
        for metric, name in self.keys:
            least, most = self.ends[metric, name]
            text += (f"| {name} | {'rate of a step' if metric == 'step' else metric} | "
                     f"{len(self.model.classes[metric, name])} | {self.model.sources((metric, name))} | "
                     f"{100 * least - 100:+.0f} … {100 * most - 100:+.0f} % |\n")
        counts, score, plain = left_out(self.figures)
        if not counts:
            return text
        text += ("\nEach source left out in turn, and judged by the others:\n\n"
                 "| kind | figure | range of | figures | inside |\n|---|---|---|---:|---:|\n")
        for (metric, kind), (inside, count) in sorted(counts.items()):
            text += (f"| {kind} | {metric} | {class_of(Figure(metric, kind, None, 0))[1]} | {count} | {inside} |\n")
        inside, count = map(sum, zip(*counts.values()))
        text += (f"| **all** |  |  | {count} | {inside} |\n\nTheir mean interval score, in logarithms, is {score:.3f}; "
                 f"that of one range a metric, from the first to the last decile, is {plain:.3f}. Less is better.\n")
        if (shares := one_known(self.served)) is None:
            return text
        known, before, width = shares
        return text + (f"\nWith one run of the same server measured (`measured_tpot` and its like), ranges are "
                       f"{100 * (1 - width):.0f} % narrower in logarithms, and {100 * known:.0f} % of the other figures of "
                       f"such servers lie inside; without it, {100 * before:.0f} % do.\n")


def median_of(factors):
    """The median factor; None of no rows."""
    return math.exp(statistics.median(map(math.log, factors))) if factors else None


# ---- the pages -------------------------------------------------------------------------------------------------------

FIGURES = """
# Every published figure, and its prediction

Written by `make papers UPDATE=1`. [Predictions beside published figures](README.md) counts them,
[rules](rules.md) explains columns and verdicts.

<!-- below: make papers -->
"""


def percent(share):
    value = 0 if abs(share) < 0.0005 else 100 * share
    return f"{'+' if value > 0 else ''}{value:.{1 if abs(value) < 9.95 else 0}f} %"


def table_line(judge):
    row, bold = judge.row, "**" if judge.verdict == "missed" else ""
    return (f"| {row.title} | {judge.kind or ''} | {published_of(judge)} | {predicted_of(judge)} | "
            f"{error_text(judge, bold)} | {ranges_text(judge)} | {bold}{judge.verdict}{bold} |")


def published_of(judge):
    return order_of(judge, False) if judge.row.ranks else judge.row.published


def order_of(judge, predicted):
    """The cases of a ranking by their names, their systems, or all that tells them apart."""
    cases = judge.row.node["rank"]
    names = [case.get("what", case.get("system")) for case in cases]
    if None in names or len(set(names)) < len(names):
        names = [" ".join(said(case)) for case in cases]
    places = range(len(names))
    order = sorted(places, key=lambda i: -judge.merits[i]) if predicted and judge.merits else places
    return ", ".join(names[i] for i in order)


def said(case):
    """["fifo", "context 8192"] of {system: fifo, context: 8192}; of a map in it, its own keys."""
    for key, value in case.items():
        if isinstance(value, dict) and "name" not in value:
            yield from said(value)
        elif isinstance(value, dict):
            yield " ".join(f"{one} {two}" if one != "name" else two for one, two in value.items())
        else:
            yield value if key == "system" else f"{key} {value}"


def predicted_of(judge):
    if judge.row.ranks:
        return order_of(judge, True)
    if not math.isnan(judge.predicted) and judge.row.most > 0:
        return written(judge.predicted, judge.row.unit)
    decides = deciding(judge, "run")
    return decides["status"] if decides and not fits(decides) else ""


def deciding(judge, role):
    return judge.cases[judge.at[0]].get(role) if judge.cases else None


def error_text(judge, bold):
    row = judge.row
    if math.isnan(judge.error):
        return ""
    text = bold + percent(judge.error) + bold
    if row.take == ["hit_ratio"] and not row.over and list(judge.cases[0]) == ["run"] and row.least == row.most < 1:
        text += f", misses {(1 - judge.predicted) / (1 - row.most):.2f}x"  # they cross the link; not judged
    return text


def ranges_text(judge):
    if judge.least is None or judge.least["name"] is None and judge.most["name"] is None:
        return ""
    return f"{percent(judge.least['error'])} … {percent(judge.most['error'])}"


def cause_of(judge):
    """The likely cause of a miss: a figure of the machine or a key, and the largest part of the step."""
    run = deciding(judge, "run")
    if judge.row.ranks or run is None or judge.kind == "pool":
        return ""
    if run["step_us"] is None:  # it does not fit, or is a server's
        notes = "; ".join(note["text"] for note in run["notes"])
        return f" {notes}." if notes else ""
    if judge.kind == "trace" and run["trace_source"]:
        return f" its hits come from {run['trace_source']}."
    part = max(run["parts_us"], key=run["parts_us"].get)
    share = run["parts_us"][part] / run["step_us"]
    return f"{suspect_text(judge.suspect)} Largest part of the step: {part}, {100 * share:.0f} %."


def suspect_text(suspect):
    if suspect["name"] is None:
        return " no figure's range brings it nearer."
    reached = suspect["error"] == 0
    text = f" `{suspect['name']}` ({suspect['basis']}) "
    if suspect["value"] is not None:
        text += f"{'towards' if reached else 'at'} {suspect['value']}"
    else:
        text += f"at {'about ' if reached else ''}{100 * suspect['share']:.0f} % of its value"
    return text + (" would meet the row." if reached else f" would leave {percent(suspect['error'])}.")


def case_text(judge):
    """Of a row across several cases: the case at its end, the run it was divided by, what was left out."""
    if math.isnan(judge.predicted):
        return ""
    which, best = judge.at
    text = ""
    if judge.row.end != "mean":
        text = " Read at " + ", ".join(f"{key} {value if isinstance(value, str) else 'as listed'}"
                                       for key, value in judge.row.node["across"][which].items())
        text += f", against {deciding(judge, best)['system']}." if best else "."
    runs = [run for one in judge.cases for run in one.values()]
    unfit = sum(not fits(run) for run in runs)
    return text + (f" {unfit} of {len(runs)} runs do not fit the memory and are left out." if unfit else "")


def remark(judge, before, behind):
    """Rows of one sweep share their texts: a reason is printed at the first, a note at the last."""
    row = judge.row
    reason = row.reason is not None and (before is None or before.row.node is not row.node)
    note = row.note is not None and (behind is None or behind.row.node is not row.node)
    missed, across = judge.verdict == "missed" and not row.figure, "across" in row.node
    if not (reason or note or missed or across):
        return ""
    text = f"- *{row.title}*:"
    if reason:
        text += f" used for {row.used}." if row.used else f" {row.reason}."
    text += cause_of(judge) if missed else ""
    text += f" {row.note}." if note else ""
    text += case_text(judge) if across else ""
    return "" if text.endswith(":") else text + "\n"


def paper_text(paper, judges):
    own = [i for i, judge in enumerate(judges) if judge.row.paper is paper]
    around = [None, *judges, None]
    remarks = "".join(remark(judges[i], around[i], around[i + 2]) for i in own)
    return (f"\n## {paper.heading}\n\n| what | class | published | predicted | error | over ranges | verdict |\n"
            "|---|---|---|---|---|---|---|\n" + "".join(table_line(judges[i]) + "\n" for i in own) + "\n" + remarks)


def count(judges, verdict, later=None):
    return sum(judge.verdict == verdict and later in (None, judge.row.later) for judge in judges)


def class_line(name, judges, median):
    own = [judge for judge in judges if judge.kind == name]
    if not own:
        return ""
    wanted = "exactly" if name == "geometry" else f"{100 * own[0].tolerance:.0f} %" if own[0].tolerance else ""
    cells = []
    for later in (False, True):
        missed = count(own, "missed", later)
        cells += [str(count(own, "met", later)), f"**{missed}**" if missed else "0"]
    return (f"| {name or 'nothing predicted'} | {wanted} | {' | '.join(cells)} | {count(own, 'not comparable')} | "
            f"{f'{median:.2f}x' if median else ''} |\n")


def by_source(judges):
    papers = {}
    for judge in judges:
        papers.setdefault(judge.row.paper.title, []).append(judge)
    text = ("\n## By source\n\n| source | rows | compared | met | missed | not comparable |\n"
            "|---|---:|---:|---:|---:|---:|\n")
    for title, own in [*papers.items(), ("**all**", judges)]:
        met, missed, other = (count(own, verdict) for verdict in ("met", "missed", "not comparable"))
        text += f"| {title} | {len(own)} | {met + missed} | {met} | {missed} | {other} |\n"
    return text


MISSES_HEAD = "| source | what | class | published | predicted | error |\n|---|---|---|---|---|---|\n"
WORST_HEAD = "| source | what | class | published | predicted | error | cause |\n|---|---|---|---|---|---|---|\n"


def miss_line(judge, *more):
    cells = [judge.row.paper.title, judge.row.title, judge.kind, published_of(judge), predicted_of(judge),
             error_text(judge, ""), *more]
    return f"| {' | '.join(cells)} |\n"


def worst_line(judge):
    return miss_line(judge, judge.row.cause or "not found")


def misses(judges):
    """All misses but those of servers, of which the worst that make the error."""
    missed = [judge for judge in judges if judge.verdict == "missed" and not (judge.row.figure and judge.row.paper.older)]
    systems, servers = ([judge for judge in missed if bool(judge.row.figure) == served] for served in (False, True))
    worst = sorted(servers, key=lambda judge: -(judge.factor() or math.inf))[:WORST]
    return ((f"\n## What is missed\n\n{MISSES_HEAD}" + "".join(map(miss_line, systems)) if systems else "") +
            (f"\n## The worst {len(worst)} figures of servers\n\n{WORST_HEAD}" + "".join(map(worst_line, worst))
             if worst else ""))


def points(judges):
    """Lines for scenarios/measured/accuracy.gp: figure, kind of model, predicted, measured."""
    served = [judge for judge in judges if judge.row.figure and judge.verdict in ("met", "missed") and judge.predicted > 0]
    return "".join(f"{SERVED[judge.row.figure][1]}\t{'MoE' if 'MoE' in judge.kind else 'dense'}\t{judge.predicted:.6g}\t"
                   f"{judge.row.least:.6g}\n" for judge in served)


def summary(judges, errors):
    met, missed = ([count(judges, verdict, later) for later in (False, True)] for verdict in ("met", "missed"))
    text = (f"\n## By class\n\nOf the first {met[0] + missed[0]} rows, {met[0]} are met and {missed[0]} missed. Of "
            f"{met[1] + missed[1]} added later, {met[1]} are met and {missed[1]} missed. "
            f"{count(judges, 'not comparable')} are not comparable.\n\n"
            "| class | wanted within | met | missed | added: met | added: missed | not comparable | median off by |\n"
            "|---|---:|---:|---:|---:|---:|---:|---:|\n")
    kinds = dict.fromkeys(judge.kind for judge in judges)
    first = ("geometry", "trace", "pool", *CLASSES)
    for name in (*first, *sorted(kind for kind in kinds if kind and kind not in (*first, "ranking")), "ranking", None):
        factors = [judge.factor() for judge in judges if judge.kind == name and judge.factor() is not None]
        text += class_line(name, judges, median_of(factors))
    return text + errors.shown()


def used(judges):
    """Figures that were read off rows: neighbours with one figure share a line, and rows of one sweep are one."""
    text, last = "", None
    for row in (judge.row for judge in judges if judge.row.used):
        if last is not None and row.node is last.node:
            continue
        if last is not None and row.paper is last.paper and row.used == last.used:
            text += f", *{row.title}*"
        else:
            text += ("\n## Figures that were read off rows\n\n" if last is None else "\n")
            text += f"- {row.used}: {row.paper.title}, *{row.title}*"
        last = row
    return text + ("\n" if text else "")


def main(words=None):
    parser = argparse.ArgumentParser(prog="spillway.papers", description=__doc__.split("\n")[0])
    parser.add_argument("files", nargs="+", metavar="FILE", help="published figures and their runs")
    parser.add_argument("--errors", metavar="FILE", help="write the error bands to this file, by class")
    parser.add_argument("--points", metavar="FILE", help="write predicted and measured figures of servers to this file")
    parser.add_argument("--printed", metavar="FOLDER", help="count what the papers print, listed in FOLDER/printed")
    parser.add_argument("--orders", metavar="REGEX", help="print the lines of orders with such a title, and run nothing else")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="runs at a time")
    given = parser.parse_args(words)

    def report(done, all):
        if sys.stderr.isatty():
            sys.stderr.write(f"\r{done} of {all} runs\033[K" if done < all else "\r\033[K")

    try:
        papers = [Paper(path) for path in given.files]
        wrong = printed.faults(given.printed, papers) if given.printed else []
        if wrong:
            raise Fault("\n".join(wrong))
        for paper in papers if given.orders else ():
            paper.rows = [row for row in paper.rows if row.ranks and re.search(given.orders, row.title)]
        runs = predict(papers, given.jobs, report, () if given.orders else ("--explain",))
        judges = [Judge(row, runs) for paper in papers for row in paper.rows]
    except (Fault, Error) as why:
        sys.exit(f"spillway.papers: {why}")
    if given.orders:
        sys.stdout.write("".join(table_line(judge) + "\n" for judge in judges))
        return
    errors = Errors(judges)
    if given.printed:
        verdicts = {printed.name_of(judge.row): judge.verdict for judge in judges}
        sys.stdout.write(printed.table(given.printed, verdicts))
    sys.stdout.write(by_source(judges) + summary(judges, errors) + misses(judges) + FIGURES +
                     "".join(paper_text(paper, judges) for paper in papers) + used(judges))
    if given.errors:
        with open(given.errors, "w", encoding="utf-8") as file:
            file.write(errors.lines())
    if given.points:
        with open(given.points, "w", encoding="utf-8") as file:
            file.write(points(judges))


if __name__ == "__main__":
    main()
