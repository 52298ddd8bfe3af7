"""Bands of twins, worked by hand: variances of texts, slopes and models, and quantiles of Student's t from a table. All
twins have a share of one half, so a recording's logit is its residual."""

import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "traces"))
import tap  # noqa: E402
import twin_bands  # noqa: E402
from twin_bands import Row, band_model, band_text, quantile, share_of  # noqa: E402

twin_bands.CHANCE = 0.8
# Quantiles of t with 1, 2 and 3.12 degrees of freedom, for that chance.
T_1, T_2, T_3_12 = 3.07768, 1.88562, 1.62086


def row(model, text, context, logit):
    return Row(model, text, context, 1000, 6, {"f": share_of(logit)}, {"f": 0.5})


# Two models, two texts each, at 1000 and 2000 tokens. Slopes .1 and .3 of a, -.3 and -.1 of b.
SHIPPED = [row("a", "x", 1000, .1), row("a", "y", 1000, -.1), row("b", "x", 1000, .2), row("b", "y", 1000, -.2),
           row("a", "x", 2000, .1 + .1), row("a", "y", 2000, -.1 + .3),
           row("b", "x", 2000, .2 - .3), row("b", "y", 2000, -.2 - .1)]
OWN = [row("own", "z", 1000, .3)]


def is_band(band, centre, half):
    """`half` is a quantile of t times a deviation, in logits."""
    wanted = share_of(centre - half), share_of(centre + half)
    assert all(abs(a - b) < 1e-4 for a, b in zip(band, wanted)), f"{band}, not {wanted}"


def quantiles_are_those_of_a_table():
    assert abs(quantile(1) - T_1) < 1e-4 and abs(quantile(2) - T_2) < 1e-4 and abs(quantile(3.12) - T_3_12) < 1e-4


def another_text_lies_about_the_own_recording():
    """Of texts: (.01 + .01 + .04 + .04) / 2 degrees of freedom, twice, because own recording and new one both have a
    text: .1."""
    is_band(band_text(SHIPPED, OWN, "f", 1000, .5), .3, T_2 * math.sqrt(.1))
    is_band(band_text(SHIPPED, OWN, "f", 1000, .6), .3 + math.log(1.5), T_2 * math.sqrt(.1))


def a_model_of_eight_texts_has_a_spread_of_its_own():
    """Logits of 1, 0, ... 1, 0, about a mean of .5: the variance is 8 * .25 / 7, times 1 + 1/8; the twin does not count.
    The quantile of t with 7 degrees of freedom is 1.41492. With seven texts, or texts of other layers, those of all models count as before."""
    shipped = SHIPPED + [row("own", str(text), 1000, text % 2) for text in range(1, 8)]
    own = [Row("own", "0", 1000, 1000, 6, {"f": .5}, {"f": .7})]
    is_band(band_text(shipped, own, "f", 1000, .7), .5, 1.41492 * math.sqrt(2 / 7 * 1.125))
    own[0].layers = 30
    low, high = band_text(shipped, own, "f", 1000, .7)
    assert abs(low + high - 1) < 1e-9  # about the own recording alone
    own[0].layers = 6
    own[0].text = "1"  # takes the place of the shipped row: seven texts
    low, high = band_text(shipped, own, "f", 1000, .7)
    assert abs(low + high - 1) < 1e-9  # about the own recording alone


def another_context_adds_slopes():
    """Slopes: within models (4 * .01) / 2 = .02; mean square of their means 4 * .04 = .16, so between models
    (.16 - .02) / 2 = .07, times 1 + 1/2; the common slope is 0. Degrees of freedom by Satterthwaite:
    .225^2 / (.1^2 / 2 + .105^2 / 1 + .02^2 / 2) = 3.12."""
    is_band(band_text(SHIPPED, OWN, "f", 2000, .5), .3, T_3_12 * math.sqrt(.225))
    assert band_text(SHIPPED, OWN, "f", 2001, .5) is None  # no row goes as far
    assert band_text(SHIPPED, OWN, "f", 999, .5) is None
    low, high = band_text(SHIPPED, OWN + [row("own", "z", 2000, .3 + .6)], "f", 2000, .5)  # a slope of its own
    ends = [math.log(end / (1 - end)) for end in (low, high)]
    assert .3 + .5 < sum(ends) / 2 < .3 + .6 and (ends[1] - ends[0]) / 2 < T_3_12 * math.sqrt(.225)


def another_model_lies_about_all():
    """Means at 1000 tokens: 0, 0 and .3; their variance is .03, times 1 + 1/3: .04."""
    is_band(band_model(SHIPPED, OWN, "f", 1100), .1, T_2 * .2)
    own = [row("b", "z", 1000, .3)]  # replaces the shipped rows of b
    is_band(band_model(SHIPPED, own, "f", 1000), .15, T_1 * math.sqrt(.045 * 1.5))


def without_texts_there_is_no_band():
    assert band_text([], OWN, "f", 1000, .5) is None and band_model([], OWN, "f", 1000) is None
    own = OWN + [row("own", "y", 1000, .1)]  # two texts of its own suffice: their variance is .02
    is_band(band_text([], own, "f", 1000, .5), .2, T_1 * math.sqrt(.02 * 1.5))


checks = [quantiles_are_those_of_a_table, another_text_lies_about_the_own_recording,
          a_model_of_eight_texts_has_a_spread_of_its_own, another_context_adds_slopes,
          another_model_lies_about_all, without_texts_there_is_no_band]
sys.exit(tap.run(checks))
