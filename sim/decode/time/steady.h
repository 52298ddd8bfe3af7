/* Steady state: a schedule with many equal micro-batches is timed without most of them.
 *
 * Micro-batches come in runs of equal ones (packing.h). A few micro-batches into a run the schedule
 * repeats itself, so that each further period adds the same to every figure: to the time of each
 * step, to each part and stall, to the bytes. A run of N micro-batches is then known from short
 * ones:
 *
 *     figure(N) = figure(n) + (N - n) / d * (figure(n + d) - figure(n))      d divides N - n
 *
 * This is exact if each d micro-batches past the n-th add the same to all figures. That is tested,
 * not assumed:
 *
 *   - They repeat: the d micro-batches before the n-th add as much, too. If several runs are long,
 *     what each adds alone adds up to what all add together.
 *   - Resources keep step: none drifts against the kernels, which would meet it in another way
 *     later (lag, loops.h).
 *   - Idle time lasts: where a long transfer hides the micro-batches beside it, each one takes idle
 *     time from the kernels' stream until none is left, and only then adds to the step. So the idle
 *     time of each resource in each loop, extrapolated, may fall, but not below 0.
 *
 * While a test fails, n and d are doubled, in the end up to the whole batch. A schedule may never
 * repeat, because transfers drift against kernels with which they share a channel. It is left at
 * STEADY_MOST micro-batches, and its figures are not `exact`: they grow by the mean of the last d
 * micro-batches. So is one that repeats, but whose idle time would end, at STEADY_MOST_IDLE: each
 * micro-batch takes memory. d has many divisors and so covers many periods; usual are 1 and 2, as
 * there are two buffers.
 */
#ifndef DECODE_TIME_STEADY_H
#define DECODE_TIME_STEADY_H

#include "decode/plan/plan.h"

enum {
    STEADY_FIRST = 20,   /* the least n */
    STEADY_SPACING = 12, /* the least d */
    STEADY_MOST = 160,   /* of a schedule that does not repeat: micro-batches in which it might */
    STEADY_MOST_IDLE = 16 * STEADY_MOST, /* of one that does, and whose idle time would end */
};

/* What is asked: integers of a schedule. The last `lag_count` of the `count` are lags, those before
 * them `idle_count` idle times, and the others are sums. */
struct steady_question {
    const struct plan *plan;
    size_t count, idle_count, lag_count;
    /* Time `plan`, which has fewer micro-batches, and write its figures. */
    bool (*time)(void *context, const struct plan *plan, int64_t *figures, struct error *why);
    void *context;
};

/* Has the plan a run so long that micro-batches are left out? If not, time it whole. */
bool steady_shortens(const struct plan *plan);

/* Write the figures [count] of the whole plan. */
bool steady_figures(const struct steady_question *question, int64_t *figures, bool *exact,
                    struct error *why);

#endif
