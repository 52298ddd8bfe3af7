/* Likeness: whether cache policies see the same behaviour in a trace and in its generated twin: figures
 * (hits, reuse, mass, overlap) of each head of both, of the first sequence. Caches fill in the first half of
 * the steps, which does not count. */
#pragma once

#include "trace/stats.h"

enum likeness_kind { LIKENESS_STATS, LIKENESS_HITS, LIKENESS_REUSES, LIKENESS_MASS };

struct likeness_figure {
    const char *name; /* "lru_30" */
    const char *summary;
    /* Its source: a statistic, or `policy`, with a cache of `setting` of the context (HITS) or with
     * `setting` as its threshold (REUSES, MASS). Without a cache every set is fresh: its mass is over the
     * same steps as that of reused sets. */
    enum likeness_kind kind;
    enum trace_figure figure;
    const char *policy;
    double setting;
};

enum { LIKENESS_FIGURES = 23 };
extern const struct likeness_figure likeness_figures[LIKENESS_FIGURES];

/* The means of all figures over heads, of demands of `share` of the context, for any number of threads. Fails
 * where trace_stats_measure() does, and if the trace has no queries. */
bool likeness_measure(const struct trace *trace, double share, uint32_t threads,
                      double mean[LIKENESS_FIGURES], struct error *why);
