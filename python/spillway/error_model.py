"""How far predictions are off, from measured over predicted figures.

A figure of a metric (TTFT, TPOT, ...) belongs to a class of runs and to a source. Its error is y = ln(measured /
predicted). Of a metric and class the errors of all sources are taken as normal, and what a new source will measure
lies about their mean m with their spread s. The figures of one source rise and fall together, so m is known as well
as the number of sources says: eight of ten new figures lie within

    m - h ... m + h,   h = 1.28 s sqrt(1 + 1 / sources).

There are as few classes as the sources can tell apart (`class_of`). When each source is left out in turn, finer
ones, by kind of model, load or engine, are worse: most of their figures come from one or two sources.
"""

import collections
import math
import statistics

LEVEL = 0.8  # of the figures of new sources inside the interval
HALF = statistics.NormalDist().inv_cdf(0.5 + LEVEL / 2)

Figure = collections.namedtuple("Figure", "metric kind source y")  # `kind`: as the program names it


def class_of(figure):
    """The metric and class: dense models at low load with prefixes on the GPU, other servers, other systems."""
    return figure.metric, "dense" if figure.kind == "dense server" else "system" if figure.metric == "step" else "other"


class Model:
    def __init__(self, figures):
        self.classes = {}
        for figure in figures:
            self.classes.setdefault(class_of(figure), []).append(figure)

    def sources(self, key):
        return len({figure.source for figure in self.classes[key]})

    def moments(self, key):
        """The mean of a class, and its spread."""
        errors = [figure.y for figure in self.classes[key]]
        mean = statistics.fmean(errors)
        return mean, math.sqrt(sum((y - mean) ** 2 for y in errors) / (len(errors) - 1))

    def ends(self, key):
        """What a new source measures lies between these factors of what is predicted, with a chance of LEVEL."""
        mean, spread = self.moments(key)
        half = HALF * spread * math.sqrt(1 + 1 / self.sources(key))
        return math.exp(mean - half), math.exp(mean + half)


def alike(figures):
    """How far figures of one server are alike: the correlation of two of them, over all pairs, each server with the
    weight of its figures. The source of a figure is here its server. 0 if no server has two."""
    model, servers = Model(figures), {}
    moments = {key: model.moments(key) for key, own in model.classes.items() if len(own) > 1}
    for figure in figures:
        if class_of(figure) in moments and moments[class_of(figure)][1] > 0:
            mean, spread = moments[class_of(figure)]
            servers.setdefault((figure.metric, figure.source), []).append((figure.y - mean) / spread)
    pairs = [own for own in servers.values() if len(own) > 1]
    products = sum((sum(own) ** 2 - sum(z * z for z in own)) / (len(own) - 1) for own in pairs)
    return products / sum(z * z for own in pairs for z in own) if pairs else 0


def known(least, most, measured, alike):
    """The interval between two factors, once a run of the same server has measured this multiple of what was predicted:
    the conditional distribution of one of two normal variables with this correlation."""
    middle, half = math.log(least * most) / 2, math.log(most / least) / 2
    middle, half = middle + alike * (math.log(measured) - middle), half * math.sqrt(1 - alike * alike)
    return math.exp(middle - half), math.exp(middle + half)


def folds(figures, source=lambda figure: figure.source):
    """(figures of the others, figures of the source) if each source is left out in turn; of those of a class that the
    others have, too."""
    for left in dict.fromkeys(map(source, figures)):
        others = [figure for figure in figures if source(figure) != left]
        classes = collections.Counter(map(class_of, others))
        yield others, [figure for figure in figures if source(figure) == left and classes[class_of(figure)] > 1]


def one_known(figures):
    """(share inside, share inside without the run, width over width without it), if each source is left out in turn and
    each figure of its servers is predicted knowing one other run of that server. `figures` have servers as sources,
    which are tuples that begin with the source. None if no server has two runs."""
    inside = before = width = count = 0
    for others, own in folds(figures, lambda figure: figure.source[0]):
        model = Model([figure._replace(source=figure.source[0]) for figure in others])
        ends, correlation = {key: model.ends(key) for key in set(map(class_of, own))}, alike(others)
        for figure in own:
            runs = [one for one in own if one is not figure and (one.metric, one.source) == (figure.metric, figure.source)]
            least, most = ends[class_of(figure)]
            runs = runs if least < most else []  # figures that err alike to the digit say nothing of a width
            for run in runs:
                low, high = known(least, most, math.exp(run.y), correlation)
                inside += (low <= math.exp(figure.y) <= high) / len(runs)
                before += (least <= math.exp(figure.y) <= most) / len(runs)
                width += math.log(high / low) / math.log(most / least) / len(runs)
            count += bool(runs)
    return (inside / count, before / count, width / count) if count else None


def interval_score(least, most, y):
    """The width of an interval in logarithms, and what a figure outside adds (Gneiting and Raftery 2007)."""
    low, high = math.log(least), math.log(most)
    return high - low + 2 / (1 - LEVEL) * max(low - y, y - high, 0)


def left_out(figures):
    """({(metric, kind): (figures inside, figures)}, mean score, mean score of the deciles of a metric's errors) if each
    source is left out in turn, and judged by the others."""
    counts, scores, plain = {}, [], []
    for others, own in folds(figures):
        model = Model(others)
        ends = {key: model.ends(key) for key in set(map(class_of, own))}
        deciles = {metric: statistics.quantiles([one.y for one in others if one.metric == metric], n=10,
                                                method="inclusive") for metric, _ in ends}
        for figure in own:
            inside, count = counts.get((figure.metric, figure.kind), (0, 0))
            least, most = ends[class_of(figure)]
            counts[figure.metric, figure.kind] = inside + (least <= math.exp(figure.y) <= most), count + 1
            scores.append(interval_score(least, most, figure.y))
            plain.append(interval_score(math.exp(deciles[figure.metric][0]), math.exp(deciles[figure.metric][-1]), figure.y))
    return (counts, statistics.fmean(scores), statistics.fmean(plain)) if counts else (counts, math.nan, math.nan)
