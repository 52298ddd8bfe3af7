/* What can be had of throughput, step latency, HBM and attention mass, and which of it is not for
 * less elsewhere.
 *
 * Every candidate is walked over its budgets and batches, as whatif does it; the runs that meet the
 * targets, if there are any, are held against each other, and those on the Pareto front are what is
 * worth choosing among. A run of which nobody knows the attention mass counts as one of none.
 */
#ifndef STUDY_PLAN_TRADEOFF_H
#define STUDY_PLAN_TRADEOFF_H

#include "study/plan/candidates.h"
#include "study/plan/target.h"
#include "study/whatif/whatif.h"

struct tradeoff_options {
    struct targets targets; /* none: all runs are held against each other */
    struct candidate_options candidates;
    struct store *store; /* NULL: keep nothing */
    uint32_t jobs;       /* 0: one a processor */
    const struct run_context *runs; /* with room for these jobs */
    void (*on_progress)(const char *system, const char *machine, uint32_t runs, void *context);
    void *context;
};

/* A run on the front. */
struct tradeoff_run {
    uint32_t study, point; /* of the studies; of its points */
    const struct result *result;
};

struct tradeoff {
    struct candidate *candidates; /* owned */
    struct whatif *studies;       /* [count], owned; those left out have none */
    struct error *why;            /* [count], owned: of candidates that cannot be walked */
    uint32_t count;
    struct tradeoff_run *front; /* by throughput, the highest first; owned */
    uint32_t front_count, run_count;
};

/* Fails where no candidate can be walked, or all are left out. The caller releases `out`, on
 * failure too. */
bool tradeoff_run(const struct scenario *scenario, const struct tradeoff_options *options,
                  struct tradeoff *out, bool *interrupted, struct error *why);
void tradeoff_release(struct tradeoff *tradeoff);

#endif
