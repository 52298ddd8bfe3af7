/* How alike two traces are to those who use them: the figures on which cache policies live, head by
 * head, for a trace and its twin, and by how much a twin may be off to be called honest.
 *
 * Hits, reuse and mass are of the second half of the steps, after caches that start empty have seen
 * the first. Only the first sequence is read.
 */
#ifndef DECODE_REPLAY_LIKENESS_H
#define DECODE_REPLAY_LIKENESS_H

#include "base/error.h"
#include "trace/format/trace.h"

#include <stdbool.h>
#include <stdint.h>

struct likeness_figure {
    const char *name; /* "lru_30" */
    const char *summary;
    /* By how much the mean over heads may be off: at the context of the fit, and at another. 0: not
     * promised. */
    double same, other;
};

enum { LIKENESS_FIGURES = 23 };
extern const struct likeness_figure likeness_figures[LIKENESS_FIGURES];

struct likeness {
    uint32_t heads;                   /* layers * kv_heads */
    double *values[LIKENESS_FIGURES]; /* [heads], layer-major; owned */
};

/* Measure demands of `share` of the context outside the trace's window, layers in parallel, with
 * the same result for any number of threads. Fails where trace_stats_measure() does, and without
 * queries. The caller releases it. */
bool likeness_measure(const struct trace *trace, double share, uint32_t threads,
                      struct likeness *out, struct error *why);
void likeness_release(struct likeness *likeness);

/* The mean of a figure over heads, and the head where two differ most. */
double likeness_mean(const struct likeness *likeness, uint32_t figure);
uint32_t likeness_worst(const struct likeness *a, const struct likeness *b, uint32_t figure);

#endif
