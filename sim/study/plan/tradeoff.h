/* The trade-off between throughput, step latency, HBM and attention mass; for servers, between
 * throughput of a GPU, the 99th percentile of TTFT, and TPOT.
 *
 * Every candidate is run over its budgets and batches, or over its arrival rates or clients, as
 * `whatif` does. Of the runs that meet the targets, those on the Pareto front are worth choosing from: no
 * other is at least as good in every figure and better in one. Equal runs are on it together. If a run's
 * attention mass is unknown, it counts as 0. Servers whose queue grows are left out: their figures hold
 * only for a workload of just this length. */
#pragma once

#include "study/plan/candidates.h"
#include "study/plan/target.h"
#include "study/whatif/whatif_study.h"

struct tradeoff_options {
    const char *over;       /* the axes, as whatif_options.over; NULL: the usual ones */
    struct targets targets; /* none: all runs are compared */
    struct candidate_options candidates;
    struct study study;
};

enum { TRADEOFF_FIGURES = 4 };

struct tradeoff_run {
    const struct whatif *study;
    uint32_t point; /* of that study */
    const struct result *result;
    double figures[TRADEOFF_FIGURES]; /* that are compared, throughput first; more is better */
};

struct tradeoff {
    struct candidate *candidates; /* owned */
    struct whatif *studies;       /* [count], owned; empty for candidates that are left out */
    struct error *why;            /* [count], owned; set if a candidate cannot be run */
    uint32_t count;
    uint32_t compared;          /* runs that meet the targets */
    struct tradeoff_run *front; /* [front_count], highest throughput first; owned */
    uint32_t front_count;
};

/* Fails if no candidate can be run, or if all are left out. The caller releases `out`, even then. */
bool tradeoff_run(const struct scenario *scenario, const struct tradeoff_options *options,
                  struct tradeoff *out, struct error *why);
void tradeoff_release(struct tradeoff *tradeoff);
