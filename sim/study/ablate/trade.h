/* What a mechanism buys besides time, and where a mechanism that costs time begins to save some.
 *
 * Both answers follow from runs. The first needs no more than those of the ablation: the two runs
 * that differ by the mechanism alone are compared in what they attend to, keep in memory, move and
 * ask of the CPU. The second repeats the same two runs at other batches and contexts.
 */
#ifndef STUDY_ABLATE_TRADE_H
#define STUDY_ABLATE_TRADE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct ablation;
struct ablation_row;
struct ablation_options;
struct scenario;

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
 * measure's unit; 0 if that is less than a hundredth of the run without it (for the mass: less than
 * 0.1 %) or unknown. */
double trade_gain(const struct ablation_trade *trade, enum trade_measure measure);

/* Does the row's mechanism cost at least 0.5 % of the step? Less is shown as a gain of 1.00x. */
bool ablation_costs(const struct ablation *ablation, const struct ablation_row *row);

/* ---- where it turns ---- */

/* What the mechanism saves together with those that are left out with it, because they need it: the
 * system against the row's run. Returns false if there are none, or a step has no time. */
bool ablation_together(const struct ablation *ablation, const struct ablation_row *row,
                       int64_t *ns);

/* A setting in which the mechanisms that cost time are tried again. */
struct turn_setting {
    const char *key; /* "batch" or "context" */
    uint64_t value;
};
enum { TURN_SETTINGS = 6 };

/* The nearest setting in which a mechanism saves time (at least 0.5 %), or in which the system has
 * room in memory with it only. */
enum turn_kind { TURN_UNTRIED, TURN_NONE, TURN_SAVES, TURN_FITS };
struct ablation_turn {
    enum turn_kind kind;
    struct turn_setting at; /* of SAVES and FITS */
    int64_t saves_ns;       /* of SAVES */
};

/* List the settings: a quarter and four times the batch, a quarter of the context, then a sixteenth
 * and 16 times; where the result is a whole batch, and at least 512 tokens. Returns their number. */
uint32_t turn_settings(uint64_t batch, uint64_t context, struct turn_setting out[TURN_SETTINGS]);

/* Try each mechanism that costs time nearest to the system in the settings of `ablation`, and fill
 * its `turns`. `scenario` is that of the ablation; one that mixes contexts is left untried. A run
 * that fails in another setting is no error. None is stored. */
bool ablation_find_turns(const struct scenario *scenario, const struct ablation_options *options,
                         struct ablation *ablation, bool *interrupted, struct error *why);

#endif
