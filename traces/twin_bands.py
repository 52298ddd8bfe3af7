#!/usr/bin/env python3
"""Where figures of other texts, contexts and models may lie, from recordings beside a twin.

    spillway trace fit mine.swt --json --check mine-code.swt,unseen.swt | traces/twin_bands.py --learn mine-code.swt

Reads the reports of `trace fit --json`, the fitted recording's first. The bands learn from it, from the recordings that
--learn names, and from the rows of twins.json beside this file. All other recordings are judged: which of their
figures lie outside?

Figures are shares; they are compared in logits, because misses differ by factors. The residual of a row is the logit of
the recording less that of the twin. It is taken as

    level of the model + effect of the text + slope of model and text * octaves of context,

octaves being log2 of context / fitted context. Texts vary about their model and slopes about those of their model, which
vary about a common mean: one-way random effects, with variances by the usual analysis of variance (Searle, Casella,
McCulloch, "Variance Components", 1992, chapter 3).

- Another text of a model with at least LEAST_TEXTS texts of as many layers at the fitted context, shipped rows and own
  recordings together. Families differ in how far their texts lie apart, so the model's own texts count alone: the
  centre is their mean logit, the variance that of these texts times 1 + 1 / texts.
- Another text of any other model. The centre is the twin, moved by the mean residual of the model's own recordings at
  the fitted context; the variance is that of a text, over the texts of all models, times 1 + 1 / own texts.
- Another context. Besides, the slope: the common mean, or with own recordings of other contexts their mean, weighted by
  its precision against that of a new model. Longer and shorter contexts are learned apart: a twin extrapolates to the
  longer ones only.
- Another model. The centre is the mean over the models of their mean logits at the context that is nearest; the variance
  is that between models times 1 + 1 / models. The twin has no part in it.

A band is the centre plus and minus a quantile of Student's t times the deviation; its degrees of freedom are
Satterthwaite's. CHANCE of the figures should lie inside: it is the largest of .9, .85 and .8 for which no band of hits is
wider than 20 points for a shipped family, at the context of the fit and at twice that. Own recordings add to the
variances, unless rows of their model ship. There are no bands for demands of another share than SELECTION, for chosen
layers unless rows of the model have as many, and for a check that lacks layers of the fitted recording: nothing was
measured for them.
"""

import argparse
import json
import math
import os
import sys
from dataclasses import dataclass, field

CHANCE = 0.8
SELECTION = 0.1
LEAST_TEXTS = 8  # tell the spread between texts of one model
LEAST_SHARE = 0.0005  # closer to 0 or 1 counts as this: masses are recorded in steps, hits counted
ROWS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "twins.json")


@dataclass
class Row:
    """A recording beside a twin of another recording of its model; figures by name."""
    model: str
    text: str
    context: int
    fitted: int
    layers: int
    was: dict = field(default_factory=dict)
    twin: dict = field(default_factory=dict)

    def residual(self, figure):
        return logit(self.was[figure]) - logit(self.twin[figure])

    def octaves(self):
        return math.log2(self.context / self.fitted)


def logit(share):
    within = min(max(share, LEAST_SHARE), 1 - LEAST_SHARE)
    return math.log(within / (1 - within))


def share_of(value):
    return 1 / (1 + math.exp(-value))


# ---- Student's t -----------------------------------------------------------------------------------------------------

def integral(power, angle, pieces=200):
    """Of cos^power from 0 to the angle, by Simpson's rule."""
    width = angle / pieces
    inner = sum((4 if i % 2 else 2) * math.cos(i * width) ** power for i in range(1, pieces))
    return width / 3 * (1 + inner + math.cos(angle) ** power)


def quantile(freedom):
    """CHANCE of draws lie within this distance from 0. With t = sqrt(freedom) * tan(angle), the density of the angle is
    proportional to cos^(freedom - 1)."""
    whole = math.sqrt(math.pi) / 2 * math.exp(math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2))
    low, high = 0, math.pi / 2
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if integral(freedom - 1, middle) < CHANCE * whole else (low, middle)
    return math.sqrt(freedom) * math.tan(low)


def make_band(centre, terms):
    """Of variances that add up, (term, degrees of freedom) each."""
    total = sum(term for term, _ in terms)
    half = 0
    if total > 0:
        half = quantile(total ** 2 / sum(term ** 2 / freedom for term, freedom in terms)) * math.sqrt(total)
    return share_of(centre - half), share_of(centre + half)


# ---- groups ----------------------------------------------------------------------------------------------------------

class Groups:
    """Values in groups."""

    def __init__(self, groups):
        self.groups = [group for group in groups if group]
        self.values = sum(map(len, self.groups))
        self.freedom = self.values - len(self.groups)
        self.mean = sum(map(sum, self.groups)) / self.values if self.values else 0

    def within(self):
        """The variance within groups."""
        return sum((value - sum(group) / len(group)) ** 2 for group in self.groups for value in group) / self.freedom

    def between(self):
        """The variance of group means beyond what the variance within groups gives them."""
        number = len(self.groups) - 1
        size = (self.values - sum(len(group) ** 2 for group in self.groups) / self.values) / number
        mean_square = sum(len(group) * (sum(group) / len(group) - self.mean) ** 2 for group in self.groups) / number
        return max((mean_square - self.within()) / size, 0)


# ---- what rows say ---------------------------------------------------------------------------------------------------

def start_of(rows, row):
    """The row of the same text at the fitted context."""
    return next((start for start in rows if start.context == start.fitted == row.fitted
                 and (start.model, start.text) == (row.model, row.text)), None)


def models_of(rows):
    return list(dict.fromkeys(row.model for row in rows))


def learned(shipped, own):
    """The rows of each model: own ones count unless rows of their model ship."""
    rows = [[row for row in shipped if row.model == model] for model in models_of(shipped)]
    return rows if own[0].model in models_of(shipped) else rows + [own]


def texts_of(shipped, own):
    """The rows of the own model's texts at the fitted context; of a text that was recorded, the own one."""
    rows = [row for row in own if row.context == row.fitted]
    recorded = {row.text for row in rows}
    return rows + [row for row in shipped if (row.model, row.fitted, row.layers) == (
        own[0].model, own[0].fitted, own[0].layers) and start_of(shipped, row) is row and row.text not in recorded]


def own_level(own, figure):
    residuals = [row.residual(figure) for row in own if row.context == row.fitted]
    return sum(residuals) / len(residuals), len(residuals)


def own_slope(own, figure, towards, within, text):
    """The slope of own recordings, and its precision: 0 without other contexts. A text that was not recorded at the
    fitted context starts at the level of the others."""
    level, texts = own_level(own, figure)
    total = precision = 0
    for row in own:
        x = row.octaves()
        if x * towards > 0:
            start = start_of(own, row)
            begin = start.residual(figure) if start else level
            variance = within + (0 if start else text * (1 + 1 / texts) / x ** 2)
            total += (row.residual(figure) - begin) / x / variance
            precision += 1 / variance
    return (total / precision if precision else 0), precision


def band_text(shipped, own, figure, context, twin):
    """For another text of the model at `context` tokens, where the twin has the value `twin`. None: no evidence goes as
    far as that context."""
    x = math.log2(context / own[0].fitted)
    families = learned(shipped, own)
    texts = Groups([[row.residual(figure) for row in rows if start_of(rows, row) is row] for rows in families])
    level, count = own_level(own, figure)
    known = texts_of(shipped, own)
    if len(known) >= LEAST_TEXTS:
        base = logit(own[0].twin[figure])
        texts = Groups([[logit(row.was[figure]) - base for row in known]])
        level, count = texts.mean, len(known)
    if texts.freedom == 0:
        return None
    centre = logit(twin) + level
    terms = [(texts.within() * (1 + 1 / count), texts.freedom)]
    if x != 0:
        moved = [[(row, start_of(rows, row)) for row in rows if row.octaves() * x > 0 and start_of(rows, row)]
                 for rows in families]
        farthest = max((abs(row.octaves()) for rows in moved for row, _ in rows), default=0)
        slopes = Groups([[(row.residual(figure) - start.residual(figure)) / row.octaves() for row, start in rows]
                         for rows in moved])
        if abs(x) > farthest or len(slopes.groups) < 2 or slopes.freedom == 0:
            return None
        within, count = slopes.within(), len(slopes.groups)
        model = slopes.between() * (1 + 1 / count)
        slope, precision = own_slope(own, figure, x, within, texts.within())
        weight = model * precision / (1 + model * precision)
        centre += x * (slopes.mean + weight * (slope - slopes.mean))
        terms += [(x ** 2 * model * (1 - weight), count - 1), (x ** 2 * within, slopes.freedom)]
    return make_band(centre, terms)


def mean_logit(rows, figure, context):
    """At the context of the rows that is nearest."""
    away = [abs(math.log2(row.context / context)) for row in rows]
    nearest = [logit(row.was[figure]) for row, distance in zip(rows, away) if distance == min(away)]
    return sum(nearest) / len(nearest)


def band_model(shipped, own, figure, context):
    """For another model at about `context` tokens. None: for want of models."""
    others = [[row for row in shipped if row.model == model] for model in models_of(shipped) if model != own[0].model]
    means = [mean_logit(rows, figure, context) for rows in [own] + others]
    if len(means) < 2:
        return None
    mean = sum(means) / len(means)
    between = sum((value - mean) ** 2 for value in means) / (len(means) - 1)
    return make_band(mean, [(between * (1 + 1 / len(means)), len(means) - 1)])


# ---- reports ---------------------------------------------------------------------------------------------------------

def figures_of(report):
    return [name for name, value in report.items() if isinstance(value, dict)]


def row_of(report):
    figures = figures_of(report)
    return Row(report["model"], report["text"], report["context"], report["fitted_context"], report["layers"],
               {name: report[name]["recording"] for name in figures}, {name: report[name]["twin"] for name in figures})


def load_rows(path=ROWS):
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    return [Row(row["model"], row["text"], row["context"], row["fitted"], row["layers"],
                dict(zip(rows["figures"], row["recording"])), dict(zip(rows["figures"], row["twin"])))
            for row in rows["recordings"]]


def has_bands(shipped, report, fitted):
    measured = (fitted["model"], fitted["layers"]) in {(row.model, row.layers) for row in shipped}
    return (abs(report["selection"] - SELECTION) < 1e-9 and (measured or not report["chosen_layers"])
            and (report["model"] != fitted["model"] or report["layers"] == fitted["layers"]))


def band_of(shipped, own, report, figure):
    if report["model"] == own[0].model:
        return band_text(shipped, own, figure, report["context"], report[figure]["twin"])
    return band_model(shipped, own, figure, report["context"])


def judge(shipped, own, report):
    """The band of each figure that has one, and whether the recording lies outside."""
    bands = {name: band_of(shipped, own, report, name) for name in figures_of(report)}
    return {name: (band, not band[0] <= report[name]["recording"] <= band[1]) for name, band in bands.items() if band}


def written(band):
    return f"{band[0]:.3f}–{band[1]:.3f}" if band else "-"


def print_outlook(shipped, own, report):
    context = report["context"]
    print(f"{report['recording']}: bands for {100 * CHANCE:g} % of the figures of\n")
    print(f"{'figure':11} {'twin':>6} {'another text':>13} {f'at {2 * context}':>9} {'text and context':>17} "
          f"{'another model':>14}")
    for name in figures_of(report):
        twin, twice = report[name]["twin"], report[name]["twice_the_context"]
        print(f"{name:11} {twin:6.3f} {written(band_text(shipped, own, name, context, twin)):>13} {twice:9.3f} "
              f"{written(band_text(shipped, own, name, 2 * context, twice)):>17} "
              f"{written(band_model(shipped, own, name, context)):>14}")
    print()


def print_check(shipped, own, report):
    judged = judge(shipped, own, report)
    kind = "another model" if report["model"] != own[0].model else \
        "its text is among the rows" if any((row.model, row.text, row.context) == (
            report["model"], report["text"], report["context"]) for row in shipped) else "not seen by the fit"
    print(f"{report['recording']} ({kind}): {sum(outside for _, outside in judged.values())} of {len(judged)} figures "
          f"outside; {(1 - CHANCE) * len(judged):.0f} are to be expected\n")
    print(f"{'figure':11} {'recording':>9} {'twin':>6} {'band':>13}")
    for name, (band, outside) in judged.items():
        print(f"{name:11} {report[name]['recording']:9.3f} {report[name]['twin']:6.3f} {written(band):>13}"
              f"{' !' if outside else ''}")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--learn", action="append", default=[], metavar="TRACE", help="also learn from this recording")
    learn = [os.path.realpath(name) for name in parser.parse_args().learn]
    reports = [json.loads(line) for line in sys.stdin]
    if not reports or not reports[0].get("fitted"):
        sys.exit("twin_bands: no report of a fit\n  expected: the output of 'spillway trace fit TRACE --json'")
    fitted, shipped = reports[0], load_rows()
    named = [report for report in reports[1:] if os.path.realpath(report["recording"]) in learn]
    own = [row_of(report) for report in [fitted] + named]
    for report in reports:
        if not has_bands(shipped, report, fitted):
            print(f"{report['recording']}: no bands for its layers and demands\n")
        elif report is fitted:
            print_outlook(shipped, own, report)
        elif report not in named:
            print_check(shipped, own, report)


if __name__ == "__main__":
    main()
