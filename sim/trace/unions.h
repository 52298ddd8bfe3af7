/* Unions of adjacent demands: what a verification of drafts asks for.
 *
 * A verification of n drafts has n + 1 queries, those of n + 1 adjacent steps. It attends to the
 * sum of their demands, and has to hold their union. Both are counted over all runs of n + 1 steps
 * of a head, from its first step to its last, each in units of the trace.
 *
 * A unit is new to the union of a run that begins after the last step that wanted it. So a use at
 * `step`, the first since `before`, adds 1 to the union of each run that begins after `before` and
 * holds `step`: one pass counts the unions of all lengths. */
#ifndef TRACE_UNIONS_H
#define TRACE_UNIONS_H

#include <stdint.h>

enum { UNIONS_MOST_DRAFTS = 8 };

/* Sums over all runs, by the number of drafts less 1. */
struct trace_unions {
    uint64_t runs[UNIONS_MOST_DRAFTS];
    uint64_t attended[UNIONS_MOST_DRAFTS]; /* sums of the demands of runs */
    uint64_t units[UNIONS_MOST_DRAFTS];    /* their unions */
};

/* Count the runs of a head with `steps` steps. */
void trace_unions_add_head(struct trace_unions *unions, uint32_t steps);

/* Count a unit that a head with `steps` steps wants at `step`, and last wanted at step
 * `after` - 1; `after` 0: it did not. */
void trace_unions_add_unit(struct trace_unions *unions, uint32_t steps, uint32_t step,
                           uint32_t after);

/* Add the sums of `other`. */
void trace_unions_merge(struct trace_unions *unions, const struct trace_unions *other);

#endif
