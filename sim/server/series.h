/* A time series of servers, in at most SERIES_BINS bins of equal length.
 *
 * A bin is 1 ms long at first. When time runs past the last bin, neighbours are merged and the
 * length doubles. So the table is bounded for a run of any length, and a run longer than
 * SERIES_BINS ms fills more than half of it. Several servers add up in one series.
 */
#pragma once

#include "core/error.h"
#include "machine/places.h"

#include <stdbool.h>
#include <stdint.h>

enum { SERIES_BINS = 512 };

enum series_figure {
    /* Levels, summed over time: level times nanoseconds. */
    SERIES_WAITING, /* requests in the queue */
    SERIES_LOADING, /* requests whose prefix is being loaded */
    SERIES_RUNNING, /* requests in the running step */
    SERIES_BLOCKS,  /* KV blocks that requests hold */
    /* Amounts. */
    SERIES_LOADED,  /* bytes of prefixes, to the GPU */
    SERIES_SAVED,   /* bytes of prefixes, to each tier below it */
    SERIES_FETCHED, /* bytes that decode steps fetch */
    SERIES_WRITTEN, /* bytes of prompts' KV that offloading writes to the host */
    SERIES_PROMPT,  /* tokens of prompts computed, including those computed again */
    SERIES_OUTPUT,  /* tokens generated */
    SERIES_FOUND,   /* tokens of prompts found on the GPU, and in each tier below it */
    SERIES_FIGURES = SERIES_FOUND + TIER_COUNT
};

struct series {
    int64_t bin_ns;
    uint32_t count;                 /* bins reached so far */
    double (*bins)[SERIES_FIGURES]; /* [SERIES_BINS], owned */
};

bool series_init(struct series *series, struct error *why);
void series_release(struct series *series);

/* The functions below do nothing if `series` is NULL. Times are not negative. */

/* A figure has this level from `start_ns` to `end_ns`. */
void series_hold(struct series *series, enum series_figure figure, int64_t start_ns, int64_t end_ns,
                 double level);

/* Add an amount, spread evenly from `start_ns` to `end_ns`. */
void series_spread(struct series *series, enum series_figure figure, int64_t start_ns,
                   int64_t end_ns, double amount);

/* Add an amount at one moment. */
void series_add(struct series *series, enum series_figure figure, int64_t at_ns, double amount);
