"""Carries over what aiconfigurator_others.py fits: latents, experts, and top-k in one kernel.

The donor is the one of the few rows of products (carried.py), among the GPUs that have the figures. Fixed
times and shares are the donor's, the peaks the GPU's own, and experts reach the donor's FLOPs a byte. The range is that of the errors of measured GPUs
when each is predicted so from another; of top-k, the curves of other GPUs beside the donor's.
"""
import numpy as np

import aiconfigurator
import aiconfigurator_others as others
import fitting
import moves

FIGURES = {
    "mla": ("mla_fixed", "mla_share", "mla_pair", "mla_flops_share"),
    "experts": ("experts_fixed", "experts_share", "experts_flops_share"),
}
KINDS = {"mla": ("bf16", "fp8"), "experts": ("bf16", "fp8", "int4", "fp4")}
TOPK = "topk_fused", "topk_fused_row"


def rows_of(name, part, kind, checkout):
    """The table of a measured GPU, or None."""
    source = aiconfigurator.SOURCES.get(name)
    which = source and getattr(source, part + fitting.suffix(kind))
    if not which:
        return None
    read = others.read_latents if part == "mla" else others.read_experts
    table = read(checkout, source, aiconfigurator.versions(which)[0], kind)
    table.keep(table["bytes"] >= 2 * source.l2)
    return table


def ratio(name, donor, part, kind, table, figure):
    """Predicted over measured times of a GPU with the donor's figures."""
    taken = {which: figure(donor, which + fitting.suffix(kind)) for which in FIGURES[part]}
    byte = 1 / (taken[part + "_share"][0][1] * fitting.stated(name, "hbm_bandwidth"))
    flops = table["flops"] / fitting.flops_peak(name, kind)
    if part == "mla":
        fixed = taken["mla_fixed"][0][1] + table["pairs"] * taken["mla_pair"][0][1]
        share = taken["mla_flops_share"][0][1]
    else:
        fixed = 2 * taken["experts_fixed"][0][1]
        shares = experts_shares(name, donor, kind, figure)
        return others.experts_seconds(table, fixed, byte, flops, shares) / table["seconds"]
    return (fixed + np.maximum(byte * table["bytes"], flops / share)) / table["seconds"]


def experts_shares(name, donor, kind, figure):
    """Shares of the FLOPs by rows of an expert, from the donor's: larger on a GPU with fewer FLOPs a byte, as of
    products (carried.py), up to the GPU's own best product."""
    points = figure(donor, "experts_flops_share" + fitting.suffix(kind))
    ridges = [fitting.flops_peak(gpu, kind) / fitting.stated(gpu, "hbm_bandwidth") for gpu in (donor, name)]
    dense = (figure(name, "flops_share" + fitting.suffix(kind)) or figure(name, "flops_share")
             or figure(donor, "flops_share" + fitting.suffix(kind)) or figure(donor, "flops_share"))
    most = max(share for _, share in dense)
    return fitting.rising(fitting.thin([(at, min(most, share * max(1, ridges[0] / ridges[1]))) for at, share in points]))


def text_of(which, points):
    """Figures of one value have one point. Shares are by rows, times by scores."""
    if which not in TOPK and len(points) == 1:
        return fitting.amount_text(which, points[0][1])
    return fitting.points_text(points, fitting.microseconds if which in TOPK else fitting.percent)


class Carrier:
    """`donor(name, kind, among)`: the nearest of the GPUs `among` to a GPU; `figure(name, which)`: the points
    of a figure that was fitted to rows; `alone(name)`: the measured GPUs that may predict another one."""

    def __init__(self, checkout, measured, donor, figure, alone):
        self.checkout, self.measured, self.donor, self.figure, self.alone = checkout, measured, donor, figure, alone

    def with_figure(self, which, among):
        return [name for name in among if self.figure(name, which)]

    def errors(self, part, kind):
        """Predicted over measured times, the same number of quantiles of each measured GPU."""
        first, found = FIGURES[part][0] + fitting.suffix(kind), []
        for name in self.with_figure(first, self.measured):
            donors = self.with_figure(first, self.alone(name))
            if donors:
                table = rows_of(name, part, kind, self.checkout)
                got = ratio(name, self.donor(name, kind, donors), part, kind, table, self.figure)
                found.append(np.quantile(got, np.linspace(0, 1, 1001)))
        return np.concatenate(found)

    def every_error(self):
        return {(part, kind): self.errors(part, kind) for part in FIGURES for kind in KINDS[part]}

    def topk_band(self, which):
        curves = [dict(self.figure(name, which)) for name in self.with_figure(which, self.measured)]
        shared = [at for at in curves[0] if all(at in curve for curve in curves)]
        return fitting.spread(np.array([one[at] / two[at] for one in curves for two in curves for at in shared]))

    def bands(self, errors):
        found = {case: fitting.spread(got) for case, got in errors.items()}
        return {**found, **{which: self.topk_band(which) for which in TOPK}}

    def texts(self, name, bands, kinds):
        """The figures of a GPU that has no rows of these kernels."""
        every = [(part, kind, base) for part in FIGURES for kind in KINDS[part] if kind in kinds
                 for base in FIGURES[part]] + [(base, "bf16", base) for base in TOPK]
        texts = []
        for part, kind, base in every:
            which = base + fitting.suffix(kind)
            if self.figure(name, which):
                continue
            donor = self.donor(name, kind, self.with_figure(which, self.measured))
            band = bands[part] if part in TOPK else bands[part, kind]
            said = "carried over from the profile %s; range: errors of measured GPUs predicted so" % donor
            points = (experts_shares(name, donor, kind, self.figure) if base == "experts_flops_share"
                      else self.figure(donor, which))
            texts.append(fitting.figure_text(which, text_of(base, points), band, said, "assumed"))
        return texts + self.moved(name)

    # ---- kernels that move activations ----

    @staticmethod
    def moves_of(name):
        return moves.points_of(fitting.fitted_text(name))

    def moves_from(self, name, among):
        """The donor, and its points as they are for the GPU."""
        donor = self.donor(name, "bf16", [other for other in among if self.moves_of(other)])
        return donor, moves.carried(name, donor, self.moves_of(donor))

    def moves_ratio(self, name):
        """Predicted over measured times of a measured GPU, at its points."""
        size, seconds = np.array(self.moves_of(name)).T
        return np.interp(size, *zip(*self.moves_from(name, self.alone(name))[1])) / seconds

    def moved(self, name):
        if self.moves_of(name):
            return []
        ratio = np.concatenate([self.moves_ratio(other) for other in self.measured if self.moves_of(other)])
        donor, points = self.moves_from(name, self.measured)
        said = "carried over from the profile %s; range: errors of measured GPUs predicted so" % donor
        return [fitting.figure_text("move", moves.text_of(points), fitting.spread(1 / ratio), said, "assumed")]
