/* How far demands and queries move from step to step, head by head, and how few units hold the mass. */
#pragma once

#include "trace/format/trace.h"
#include "trace/demand.h"

/* The figures, each a mean over the steps of a head. */
enum trace_figure {
    TRACE_OVERLAP_1, /* share of a demand that was in the demand 1, 4, 16 steps before */
    TRACE_OVERLAP_4,
    TRACE_OVERLAP_16,
    TRACE_COSINE_1, /* cosine of a query and the one 1, 4, 16 steps before; mean over query heads */
    TRACE_COSINE_4,
    TRACE_COSINE_16,
    TRACE_FRESH_MASS, /* attention mass of the demand with window and born tokens */
    TRACE_HALF_UNITS, /* fewest units that hold 50 %, 90 % of the mass recorded outside the */
    TRACE_MOST_UNITS, /* window, as a share of all units */
    TRACE_ROW_UNITS,  /* units in the row */
    TRACE_RECALL,     /* share of a demand that the approximate query asked for as well */
    TRACE_ASKED_MASS, /* attention mass of what that query asked for, with window and born tokens */
    TRACE_FIGURES,
};

/* The product of two recorded vectors: at most 1024 * 128 * 128. */
int32_t trace_dot(const int8_t *a, const int8_t *b, uint32_t count);

/* Name ("overlap_1") and meaning of each. */
struct trace_figure_kind {
    const char *name, *summary;
};
extern const struct trace_figure_kind trace_figures[TRACE_FIGURES];

/* NaN stands for a mean over nothing, such as without queries, or with too few steps for the lag. */
struct trace_stats {
    uint32_t heads;                 /* layers * kv_heads */
    double *figures[TRACE_FIGURES]; /* [heads], layer-major */
    double overall[TRACE_FIGURES];  /* means over heads */
};

/* What to ask for in each row. */
struct trace_selection {
    double share;           /* of the context that a demand asks for: above 0, at most 1 */
    uint32_t sinks, recent; /* tokens, always attended to and in no demand */
};

void trace_stats_release(struct trace_stats *stats);

/* One pass over the trace on `threads` threads (0: one per processor), with the same result for any number.
 * Memory does not grow with steps. Fails when the trace keeps fewer units than the selection wants. */
bool trace_stats_measure(const struct trace *trace, const struct trace_selection *selection,
                         uint32_t threads, struct trace_stats *stats, struct error *why);

/* TRACE_COSINE_1 alone, into cosine[layers * kv_heads]; fails on a trace without queries. */
bool trace_head_cosine(const struct trace *trace, uint32_t threads, double *cosine,
                       struct error *why);
