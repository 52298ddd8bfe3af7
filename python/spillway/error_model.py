"""How far predictions are off, from measured over predicted figures.

A figure of a metric (TTFT, TPOT, ...) belongs to a class of runs and to a source. Its error is y = ln(measured /
predicted). Of a class with spread s,

    y = s (m + a + e),   var(m) = kappa, var(a) = rho, var(e) = 1 - rho:

the class has an offset m, each source an offset a of its own, so that its figures rise and fall together, and each
figure the rest e. All are normal, and s^2 is inverse gamma with `nu` degrees of freedom about the metric's s^2, so
that classes lend to each other: y is Student t, and what a new source will measure is, too. The numbers rho, kappa, nu
and a metric's s^2 are those of the greatest likelihood. (Random effects with moderated variances: Smyth, Statistical
Applications in Genetics and Molecular Biology 3, 2004.)
"""

import collections
import math

LEVEL = 0.8  # of the figures of new sources inside the interval

Figure = collections.namedtuple("Figure", "metric kind source y")


def quantile(share, freedom):
    """Of Student's t, for shares above one half. With t = sqrt(freedom) tan(a) the density is a power of cos(a)."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)

    def above_half(angle, steps=64):
        step = angle / steps
        weights = [1 if i in (0, steps) else 4 if i % 2 else 2 for i in range(steps + 1)]
        return scale * step / 3 * sum(w * math.cos(i * step) ** (freedom - 1) for i, w in enumerate(weights))

    least, most = 0.0, math.pi / 2
    for _ in range(50):
        middle = (least + most) / 2
        least, most = (middle, most) if above_half(middle) < share - 0.5 else (least, middle)
    return math.sqrt(freedom) * math.tan(least)


class Class:
    """The figures of a metric and a class, by source."""

    def __init__(self, figures):
        self.sources = {}
        for figure in figures:
            self.sources.setdefault(figure.source, []).append(figure.y)
        self.count = len(figures)

    def moments(self, rho, kappa):
        """The likeliest offset and, over s^2, its variance; y' V^-1 y and ln det V, where s^2 V is the covariance of y."""
        weight = pull = squares = determinant = 0.0
        for ys in self.sources.values():
            own = 1 - rho + len(ys) * rho
            weight += len(ys) / own
            pull += sum(ys) / own
            squares += (sum(y * y for y in ys) - rho / own * sum(ys) ** 2) / (1 - rho)
            determinant += (len(ys) - 1) * math.log(1 - rho) + math.log(own)
        shrunk = 1 + kappa * weight
        return (kappa * pull / shrunk, kappa / shrunk, squares - kappa * pull * pull / shrunk,
                determinant + math.log(shrunk))


class Model:
    BOUNDS = {"rho": (0.02, 0.98), "kappa": (0.01, 3), "nu": (1.5, 30)}

    def __init__(self, figures):
        groups = {}
        for figure in figures:
            groups.setdefault((figure.metric, figure.kind), []).append(figure)
        self.classes = {key: Class(own) for key, own in groups.items()}
        self.numbers = {"rho": 0.5, "kappa": 0.1, "nu": 4.0, **{metric: 0.03 for metric, _ in groups}}
        self.fit()

    def likelihood(self, numbers):
        nu, total = numbers["nu"], 0.0
        for (metric, _), own in self.classes.items():
            n, variance = own.count, numbers[metric]
            _, _, squares, determinant = own.moments(numbers["rho"], numbers["kappa"])
            total += (math.lgamma((nu + n) / 2) - math.lgamma(nu / 2) - n / 2 * math.log(nu * math.pi * variance) -
                      determinant / 2 - (nu + n) / 2 * math.log1p(squares / (nu * variance)))
        return total

    def fit(self):
        """One number is moved at a time, by steps that shrink to a percent."""
        steps, best = {name: 1.5 for name in self.numbers}, self.likelihood(self.numbers)
        while max(steps.values()) > 1.01:
            for name in self.numbers:
                for factor in (steps[name], 1 / steps[name]):
                    tried = {**self.numbers, name: self.moved(name, factor)}
                    if (found := self.likelihood(tried)) > best + 1e-9:
                        self.numbers, best = tried, found
                        break
                else:
                    steps[name] = math.sqrt(steps[name])

    def moved(self, name, factor):
        value = self.numbers[name]
        odds = value / (1 - value) * factor if name == "rho" else 0
        least, most = self.BOUNDS.get(name, (0, math.inf))
        return min(max(odds / (1 + odds) if name == "rho" else value * factor, least), most)

    def ends(self, metric, kind):
        """What a new source measures lies between these factors of what is predicted, with a chance of LEVEL."""
        own, nu = self.classes.get((metric, kind), Class([])), self.numbers["nu"]
        offset, variance, squares, _ = own.moments(self.numbers["rho"], self.numbers["kappa"])
        spread = math.sqrt((nu * self.numbers[metric] + squares) / (nu + own.count))
        half = quantile(0.5 + LEVEL / 2, nu + own.count) * spread * math.sqrt(1 + variance)
        return math.exp(offset - half), math.exp(offset + half)


def alike(figures):
    """How far figures of one server are alike: the share of their variance that they have in common. The source of a
    figure is here its server."""
    return Model(figures).numbers["rho"]


def known(least, most, measured, alike):
    """The interval between two factors, once a run of the same server has measured this multiple of what was predicted:
    the conditional distribution of one of two normal variables with this correlation."""
    middle, half = math.log(least * most) / 2, math.log(most / least) / 2
    middle, half = middle + alike * (math.log(measured) - middle), half * math.sqrt(1 - alike * alike)
    return math.exp(middle - half), math.exp(middle + half)


def one_known(figures):
    """(share inside, share inside without the run, width over width without it), if each source is left out in turn and
    each figure of its servers is predicted knowing one other run of that server. `figures` have servers as sources,
    which are tuples that begin with the source. None if no server has two runs."""
    inside = before = width = count = 0
    for source in dict.fromkeys(figure.source[0] for figure in figures):
        others = [figure for figure in figures if figure.source[0] != source]
        model = Model([figure._replace(source=figure.source[0]) for figure in others])
        correlation = alike(others)
        own = [figure for figure in figures if figure.source[0] == source and figure.metric in model.numbers]
        for figure in own:
            runs = [one for one in own if one is not figure and (one.metric, one.source) == (figure.metric, figure.source)]
            least, most = model.ends(figure.metric, figure.kind)
            for run in runs:
                low, high = known(least, most, math.exp(run.y), correlation)
                inside += (low <= math.exp(figure.y) <= high) / len(runs)
                before += (least <= math.exp(figure.y) <= most) / len(runs)
                width += math.log(high / low) / math.log(most / least) / len(runs)
            count += bool(runs)
    return (inside / count, before / count, width / count) if count else None


def left_out(figures):
    """{(metric, kind): (figures inside, figures)} if each source is left out in turn, and judged by the others."""
    counts = {}
    for source in dict.fromkeys(figure.source for figure in figures):
        model = Model([figure for figure in figures if figure.source != source])
        for figure in figures:
            if figure.source == source and figure.metric in model.numbers:
                inside, count = counts.get((figure.metric, figure.kind), (0, 0))
                least, most = model.ends(figure.metric, figure.kind)
                holds = least <= math.exp(figure.y) <= most
                counts[figure.metric, figure.kind] = inside + holds, count + 1
    return counts
