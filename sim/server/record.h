/* What servers record of a run: where the time of each request went, the gaps between tokens, and series over
 * time. Several servers add up in one table of gaps and one series. A request is in one place at a time. Each
 * span of its time is charged to what it waited for there, once and without gaps, so that the causes add up
 * to its end less its arrival, in nanoseconds. A step that computes its next token is split further: the time
 * that prompts of others added, the time that the GPU waited, by part (decode/time/parts.def), and the rest,
 * which is decoding. */
#pragma once

#include "core/error.h"
#include "decode/time/pipeline.h"
#include "machine/places.h"

enum wait {
    WAIT_API,       /* for its prompt to become tokens, and for its last token to be sent */
    WAIT_QUEUE,     /* from then on until it was first scheduled */
    WAIT_LOAD,      /* for its prefix to arrive from the host, or for blocks being copied out */
    WAIT_PREFILL,   /* steps that computed its prompt */
    WAIT_PREEMPTED, /* from its preemption to its next token */
    WAIT_OTHERS,    /* prompts of others, in steps that decoded it or had no token left for it */
    WAIT_DECODE,    /* steps that decoded it, less the stalls of the GPU */
    WAIT_STALL,     /* these stalls, by part */
    WAITS = WAIT_STALL + PART_COUNT
};

struct waits {
    int64_t until_ns; /* charged up to then */
    int64_t ns[WAITS];
};

const char *wait_name(int wait); /* "queue", ... and the names of parts */
void waits_charge(struct waits *waits, enum wait wait, int64_t until_ns);

/* Charge a step of `ns` from waits->until_ns: `others_ns` for others' prompts, `stall_ns` for stalls. */
void waits_charge_decode(struct waits *waits, int64_t ns, int64_t others_ns,
                         const int64_t stall_ns[PART_COUNT]);

/* Add what was charged in `other`, `sign` times. */
void waits_add(struct waits *waits, const struct waits *other, int sign);

/* How long clients wait from one token to the next: counts by length, in bins of a 64th of a power of two, so
 * that a quantile is within 1 % of itself; the mean is exact. */
enum { GAPS_PARTS = 64, GAPS_BINS = 58 * GAPS_PARTS };

struct gaps { /* all 0 at first */
    uint64_t count;
    double sum_ns;
    uint64_t bins[GAPS_BINS];
};

void gaps_add(struct gaps *gaps, int64_t ns, uint64_t count);

/* The length that this share of all gaps does not exceed: the middle of a bin. 0 without gaps. */
double gaps_quantile_ns(const struct gaps *gaps, double share);

/* A time series of servers, in at most SERIES_BINS bins of equal length, 1 ms at first. When time runs past
 * the last one, neighbours are merged: a run of any length fits, and a long one fills more than half. */
enum { SERIES_BINS = 512 };

enum series_figure {
    /* Levels, summed over time: level times nanoseconds. */
    SERIES_WAITING, /* requests that are not scheduled yet, or were put back */
    SERIES_LOADING, /* requests whose prefix is being loaded */
    SERIES_RUNNING, /* requests in the running step, or whose last token is on its way */
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
    int64_t from_ns, bin;           /* the bin that was asked for last, behind where it begins */
    double (*bins)[SERIES_FIGURES]; /* [SERIES_BINS], owned */
};

bool series_init(struct series *series, struct error *why);
void series_release(struct series *series);

/* The functions below do nothing if `series` is NULL. Times are not negative. */

void series_hold(struct series *series, enum series_figure figure, int64_t start_ns, int64_t end_ns,
                 double level);

/* Add an amount, spread evenly from `start_ns` to `end_ns`. */
void series_spread(struct series *series, enum series_figure figure, int64_t start_ns,
                   int64_t end_ns, double amount);

void series_add(struct series *series, enum series_figure figure, int64_t at_ns, double amount);
