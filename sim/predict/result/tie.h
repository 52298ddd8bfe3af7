/* Whether two results differ in a figure, or tie.
 *
 * A difference counts only if it is larger than what is unknown about it. The first that applies:
 *
 *   near       times, rates and costs at most TIE_PERCENT apart tie: the best prediction of a whole
 *              server was no closer to its measurement than that (docs/serving.md)
 *   bands      if an error band stands under either figure, each figure lies anywhere in its band,
 *              or in its range over families of recordings if it has no band. Ranges that overlap
 *              tie, and two bands if independent errors could make the figures equal. Two runs of one
 *              system, model and machine share what the model gets wrong about them, so that bands do
 *              not say which of the two is ahead.
 *   families   if either run has families of recordings, they tie unless the same one is ahead with
 *              each of them. A run whose hits need no trace has one figure for all families.
 *
 * Every table, plan, verdict and page that ranks runs asks this file. It is symmetric, but not
 * transitive: a may tie with b and b with c while a differs from c. So compare with the best run,
 * and name those that tie with it.
 *
 * Replications are not looked at; 'plot draws' shows them. */
#pragma once

#include "predict/result/result.h"

#define TIE_PERCENT 2

enum tie {
    TIE_NONE,
    TIE_NEAR,
    TIE_BANDS, /* both have one */
    TIE_BAND,  /* only one has a band, which reaches the other figure, or its range over families */
    TIE_FAMILIES,
    TIE_ROUGH, /* capacities of brief runs (study/plan/planning.h) */
};

/* A figure of a run and what is unknown about it, in its column's unit (NaN: none): all that is compared. */
struct tie_figure {
    double value;
    double least, most; /* by its band, or else over families */
    bool has_band;
    bool timed;       /* a time, a rate or a cost; others (bytes, shares) are exact */
    uint64_t subject; /* hash of system, model and machine; 0: not all of them are known */
    uint32_t family_count;
    double families[RESULT_MOST_FAMILIES]; /* the same for every figure that has any */
};

/* The figure of a column that is a number. Cannot fail. */
void tie_figure(const struct result *result, const struct column *column, struct tie_figure *out);

/* Why two figures of one column tie; TIE_NONE: the larger one is larger. Figures that are not timed are near
 * only if equal. If neither run has the figure they are near, too; if only one has, they differ. */
enum tie figures_tie(const struct tie_figure *a, const struct tie_figure *b);

/* The same for a column of two results. */
enum tie result_tie(const struct result *a, const struct result *b, const struct column *column);

/* A figure with one family's demands; of a run whose hits need no trace, its only figure. */
double tie_figure_with(const struct tie_figure *figure, uint32_t family);

/* Why, to follow a colon: "at most 2 % apart", "their error bands overlap"; "" for TIE_NONE. */
const char *tie_reason(enum tie tie);

/* Where an error band puts a figure. A run's error band says how far published rates of systems of its class
 * lie from predicted ones (decode/error_band.h). A band of -20 … +25 % puts the rate between 0.8 and 1.25
 * times the prediction, and so a time or a cost between 1/1.25 and 1/0.8 of it. A server's TTFT, TPOT and
 * tokens a second have bands of their own, of means and medians. */

/* The band of a figure of this run, as shares of the rate; NULL: none. It belongs to the result. */
const double *band_of(const struct result *result, const struct column *column);

/* The ends between which its band puts a figure, in its unit. False: no band, and they stay as they are. */
bool band_ends(const struct result *result, const struct column *column, double *least,
               double *most);

/* The predicted figure, or the middle if a run of one's own puts both ends on one side of it. */
double band_middle(double predicted, double least, double most);

/* How far a result may be off: "8 of 10 such servers had TTFT -28 … +38 % ... off this"; or "unknown". */
enum { ERROR_WORDS = 256 };
void error_words(const struct result *result, char text[ERROR_WORDS]);
