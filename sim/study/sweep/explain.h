/* Why a step, or a server's request, takes as long as it does, and what would change that. Every figure of
 * the machine that the run reads is made 10 % smaller and 10 % larger, one at a time, and the run is timed
 * again: of decode steps the one in the middle, a server with its first requests. A figure that changes a
 * time much is worth improving; if it is only assumed, it is worth measuring first. */
#pragma once

#include "predict/result/result.h"
#include "predict/decode/context.h"
#include "predict/scenario/point.h"

/* The effect of one figure on a time. */
struct explain_figure {
    enum curve_id curve;
    enum basis basis;
    /* Change of the time if the figure is 10 % better, at most 0 (-0.03: -3 %), and if 10 % worse. */
    double better, worse;
    bool is_more; /* larger is better */
};

struct explain_time {
    /* COLUMN(step_us); of a server COLUMN(ttft_ms) and COLUMN(tpot_ms): means. */
    const struct column *column;
    struct explain_figure *figures; /* those that change it, largest effect first; owned */
    uint32_t count;
};

enum { EXPLAIN_TIMES = 2 };

struct explanation {
    const struct result *result;              /* the run, unchanged: the caller's, */
    struct result own;                        /* or this one; owned */
    struct explain_time times[EXPLAIN_TIMES]; /* [count] those that the result has */
    uint32_t count;
};

/* Explain the `result` of the point, which outlives `out`; without the detail it needs, the point is run
 * first. What does not fit, or has no clock, has no times. The caller releases `out`. */
bool explain_run(const struct point *point, const struct run_context *context,
                 const struct result *result, struct explanation *out, struct error *why);
void explanation_release(struct explanation *explanation);
