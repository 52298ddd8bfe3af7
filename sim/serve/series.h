/* Servers over time, in bins of equal length, of which there are never more than SERIES_BINS.
 *
 * Bins begin a millisecond long. When time runs past the last one, neighbours become one and the
 * length doubles: a run of any length has a bounded table, of more than half as many bins as there
 * can be once it is longer than SERIES_BINS ms. Several servers add up in one series.
 */
#ifndef SERVE_SERIES_H
#define SERVE_SERIES_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { SERIES_BINS = 512 };

enum series_figure {
    /* Levels: what there is, times the nanoseconds that it is there. */
    SERIES_WAITING, /* requests in the queue */
    SERIES_LOADING, /* requests whose prefix is on its way */
    SERIES_RUNNING, /* requests that steps compute */
    SERIES_BLOCKS,  /* KV blocks that requests hold */
    /* Amounts. */
    SERIES_LOADED,  /* bytes of prefixes, to the GPU */
    SERIES_SAVED,   /* bytes of prefixes, to the host */
    SERIES_FETCHED, /* bytes that decode steps fetch */
    SERIES_WRITTEN, /* bytes of prompts' KV that is kept on the host */
    SERIES_PROMPT,  /* tokens of prompts computed, those computed again too */
    SERIES_OUTPUT,  /* tokens generated */
    SERIES_ON_GPU,  /* tokens of prompts found there */
    SERIES_ON_HOST,
    SERIES_FIGURES
};

struct series {
    int64_t bin_ns;
    uint32_t count;                 /* bins reached so far */
    double (*bins)[SERIES_FIGURES]; /* [SERIES_BINS], owned */
};

bool series_init(struct series *series, struct error *why);
void series_release(struct series *series);

/* All functions below do nothing where `series` is NULL; times are not negative. */

/* `level` of a figure from `start_ns` to `end_ns`. */
void series_hold(struct series *series, enum series_figure figure, int64_t start_ns, int64_t end_ns,
                 double level);

/* An amount, evenly from `start_ns` to `end_ns`. */
void series_spread(struct series *series, enum series_figure figure, int64_t start_ns,
                   int64_t end_ns, double amount);

/* An amount at once. */
void series_add(struct series *series, enum series_figure figure, int64_t at_ns, double amount);

#endif
