/* Where a mechanism that costs time begins to save some: the two runs of the ablation that differ
 * by it alone are repeated at other batches and contexts. */
#ifndef STUDY_ABLATE_PAYOFF_H
#define STUDY_ABLATE_PAYOFF_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct ablation;
struct ablation_options;
struct scenario;

/* A setting in which the mechanisms that cost time are tried again. */
struct payoff_setting {
    const char *key; /* "batch" or "context" */
    uint64_t value;
};
enum { PAYOFF_SETTINGS = 6 };

/* The nearest setting in which a mechanism saves time (at least 0.5 %), or in which the system has
 * room in memory with it only. */
enum payoff_kind { PAYOFF_UNTRIED, PAYOFF_NONE, PAYOFF_SAVES, PAYOFF_FITS };
struct ablation_payoff {
    enum payoff_kind kind;
    struct payoff_setting at; /* of SAVES and FITS */
    int64_t saves_ns;         /* of SAVES */
};

/* List the settings: four times and a quarter of the batch, a quarter of the context, then 16 times
 * and a sixteenth; without those that have no whole batch, or fewer than 512 tokens. Returns their
 * number. */
uint32_t payoff_settings(uint64_t batch, uint64_t context,
                         struct payoff_setting out[PAYOFF_SETTINGS]);

/* Try each mechanism that costs time nearest to the system in the settings of `ablation`, and fill
 * its `payoffs`. `scenario` is that of the ablation; one that mixes contexts is left untried. A run
 * that fails in another setting is no error. None is stored. */
bool ablation_find_payoffs(const struct scenario *scenario, const struct ablation_options *options,
                           struct ablation *ablation, bool *interrupted, struct error *why);

#endif
