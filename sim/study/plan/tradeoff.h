/* The trade-off between throughput, step latency, HBM and attention mass; for servers, between
 * throughput of a GPU, the 99th percentile of TTFT, and TPOT.
 *
 * Every candidate is run over its budgets and batches, or over its arrival rates or clients, as
 * `whatif` does. The runs that meet the targets are compared, and the runs on the Pareto front are
 * the ones worth choosing from. If a run's attention mass is unknown, it counts as 0. Servers whose
 * queue grows are left out: their figures hold only for a workload of just this length.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "study/plan/candidates.h"
#include "study/plan/target.h"
#include "study/whatif/whatif_study.h"

struct tradeoff_options {
    const char *over;       /* the axes, as whatif_options.over; NULL: the usual ones */
    struct targets targets; /* none: all runs are compared */
    struct candidate_options candidates;
    struct study study;
};

/* A run on the Pareto front. */
struct tradeoff_run {
    uint32_t study, point; /* index into `studies`; point of that study */
    const struct result *result;
};

struct tradeoff {
    struct candidate *candidates; /* owned */
    struct whatif *studies;       /* [count], owned; empty for candidates that are left out */
    struct error *why;            /* [count], owned; set if a candidate cannot be run */
    uint32_t count;
    bool serves;                 /* the runs are of servers */
    struct tradeoff_run *pareto; /* highest throughput first; owned */
    uint32_t pareto_count, run_count;
};

/* Fails if no candidate can be run, or if all are left out. The caller releases `out`, also after a
 * failure. */
bool tradeoff_run(const struct scenario *scenario, const struct tradeoff_options *options,
                  struct tradeoff *out, bool *interrupted, struct error *why);
void tradeoff_release(struct tradeoff *tradeoff);

/* The Pareto front: the points that no other point beats. A point beats another if it is at least
 * as good in every figure and better in one. Equal points are on the front together. */

enum { PARETO_FIGURES = 4 };

struct pareto_point {
    double figures[PARETO_FIGURES]; /* higher is better; none is NaN */
};

/* Mark the points that are on the Pareto front. `on_front` has `count` elements. */
void pareto_front(const struct pareto_point *points, uint32_t count, bool *on_front);
