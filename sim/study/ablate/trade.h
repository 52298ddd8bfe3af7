/* What a mechanism buys besides time.
 *
 * The runs of the ablation say it: the two that differ by the mechanism alone are compared in what
 * they attend to, keep in memory, move and ask of the CPU.
 */
#ifndef STUDY_ABLATE_TRADE_H
#define STUDY_ABLATE_TRADE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct ablation;
struct ablation_row;

enum trade_measure {
    TRADE_MASS, /* share of the attention mass that is attended to; more is better */
    TRADE_HBM,  /* bytes of GPU memory; of this and the following measures less is better */
    TRADE_DRAM, /* bytes of host memory */
    TRADE_CPU,  /* ns of CPU work in a step (column cpu_us) */
    TRADE_LINK, /* bytes in a step, both ways */
    TRADE_MEASURES
};

/* NaN: the run does not say. */
struct ablation_trade {
    double without[TRADE_MEASURES], with[TRADE_MEASURES];
};

/* The runs without and with the row's mechanism. Returns false where ablation_saves() does. */
bool ablation_trade(const struct ablation *ablation, const struct ablation_row *row,
                    struct ablation_trade *out);

/* By how much the run with the mechanism is better in this measure (negative: worse), in the
 * measure's unit; 0 if that is less than a hundredth of the larger of the two (for the mass: less
 * than 0.1 %) or unknown. */
double trade_gain(const struct ablation_trade *trade, enum trade_measure measure);

/* Does the row's mechanism cost at least 0.5 % of the step? Less is shown as a gain of 1.00x. */
bool ablation_costs(const struct ablation *ablation, const struct ablation_row *row);

/* What the mechanism saves together with those that are left out with it, because they need it: the
 * system against the row's run. Returns false if there are none, or a step has no time. */
bool ablation_together(const struct ablation *ablation, const struct ablation_row *row,
                       int64_t *ns);

#endif
