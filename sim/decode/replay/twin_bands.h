/* The bands of a twin's figures: where a recording of another text of the model, at the same
 * context or another one, or a recording of another model may lie.
 *
 * Figures are shares; they are compared in logits, because misses differ by factors. The residual
 * of a row (twin_rows.h) is the logit of the recording less that of the twin. It is taken as
 *
 *     level of the model + effect of the text + slope of model and text · octaves of context,
 *
 * octaves being log2 of context / fitted context. Texts vary about their model and slopes about
 * those of their model, which vary about a common mean: one-way random effects, with variances by
 * the usual analysis of variance (Searle, Casella, McCulloch, "Variance Components", 1992, chapter
 * 3).
 *
 *   - Another text. The centre is the twin, moved by the mean residual of the model's own
 *     recordings at the fitted context; the variance is that of a text times 1 + 1 / own texts.
 *   - Another context. Besides, the slope: the common mean, or with own recordings of other
 *     contexts their mean, weighted by its precision against that of a new model. Longer and
 *     shorter contexts are learned apart: a twin extrapolates to the longer ones only.
 *   - Another model. The centre is the mean over the models of their mean logits at the context
 *     that is nearest; the variance is that between models times 1 + 1 / models. The twin has no
 *     part in it.
 *
 * A band is the centre plus and minus a quantile of Student's t times the deviation; its degrees
 * of freedom are Satterthwaite's. TWIN_CHANCE of the figures should lie inside: it is the largest
 * of .9, .85 and .8 for which no band of hits is wider than 20 points for a shipped family, at the
 * context of the fit and at twice that. Own recordings add to the variances, unless rows of their
 * model ship.
 */
#ifndef DECODE_REPLAY_TWIN_BANDS_H
#define DECODE_REPLAY_TWIN_BANDS_H

#include "decode/replay/twin_rows.h"

#define TWIN_CHANCE 0.8
#define TWIN_SELECTION 0.1 /* share of the context in a demand: that of the shipped rows */

/* What bands are learned from: the shipped rows, and those of the model's own recordings, the
 * fitted one first. */
struct twin_evidence {
    const struct twin_rows *shipped, *own;
};

/* The band of figure `figure` for another text of the model at `context` tokens, where the twin has
 * the value `twin`. False: none, because no evidence goes as far as that context. */
bool twin_band_text(const struct twin_evidence *evidence, uint32_t figure, uint32_t context,
                    double twin, double band[2]);

/* The band for another model at about `context` tokens. False: none, for want of models. */
bool twin_band_model(const struct twin_evidence *evidence, uint32_t figure, uint32_t context,
                     double band[2]);

#endif
