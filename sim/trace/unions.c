#include "trace/unions.h"

/* Runs of `drafts` + 1 steps that begin at `first` or later and hold `step`. */
static uint64_t runs_that_hold(uint32_t steps, uint32_t drafts, uint32_t step, uint32_t first)
{
    if (drafts >= steps) {
        return 0;
    }
    uint32_t least = step > drafts ? step - drafts : 0, most = steps - 1 - drafts;
    least = least > first ? least : first;
    most = most < step ? most : step;
    return most >= least ? most - least + 1 : 0;
}

void trace_unions_add_head(struct trace_unions *unions, uint32_t steps)
{
    for (uint32_t drafts = 1; drafts <= UNIONS_MOST_DRAFTS; drafts++) {
        unions->runs[drafts - 1] += steps > drafts ? steps - drafts : 0;
    }
}

void trace_unions_add_unit(struct trace_unions *unions, uint32_t steps, uint32_t step,
                           uint32_t after)
{
    for (uint32_t drafts = 1; drafts <= UNIONS_MOST_DRAFTS; drafts++) {
        unions->attended[drafts - 1] += runs_that_hold(steps, drafts, step, 0);
        unions->units[drafts - 1] += runs_that_hold(steps, drafts, step, after);
    }
}

void trace_unions_merge(struct trace_unions *unions, const struct trace_unions *other)
{
    for (uint32_t i = 0; i < UNIONS_MOST_DRAFTS; i++) {
        unions->runs[i] += other->runs[i];
        unions->attended[i] += other->attended[i];
        unions->units[i] += other->units[i];
    }
}
