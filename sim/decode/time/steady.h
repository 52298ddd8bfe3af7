/* Steady state: a schedule with many equal micro-batches is timed without most of them.
 *
 * Micro-batches come in runs of equal ones (memory_plan.h). A few micro-batches into a run the schedule
 * repeats itself, so that each further period adds the same to every figure: to the time of each step, to
 * each part and stall, to the bytes. A run of N micro-batches is then known from short ones:
 *
 *     figure(N) = figure(n) + (N - n) / d * (figure(n + d) - figure(n))      d divides N - n
 *
 * This is exact if each d micro-batches past the n-th add the same to all figures. That is tested,
 * not assumed:
 *
 *   - They repeat: the d micro-batches before the n-th add as much, too. If several runs are long,
 *     what each adds alone adds up to what all add together.
 *   - Resources keep step: none drifts against the kernels, which would meet it in another way
 *     later (lag).
 *   - Idle time lasts: where a long transfer hides the micro-batches beside it, each one takes idle
 *     time from the kernels' stream until none is left, and only then adds to the step. So the idle
 *     time of each resource in each loop, extrapolated, may fall, but not below 0.
 *
 * While a test fails, n and d are doubled, in the end up to the whole batch. A schedule may never repeat,
 * because transfers drift against kernels with which they share a channel. It is left at STEADY_MOST
 * micro-batches, and its figures are not `exact`: they grow by the mean of the last d micro-batches. So is
 * one that repeats, but whose idle time would end, at STEADY_MOST_IDLE: each micro-batch takes memory. d has
 * many divisors and so covers many periods; usual are 1 and 2, as there are two buffers. */
#pragma once

#include "decode/plan/memory_plan.h"
#include "decode/time/pipe.h"
#include "decode/time/pipeline.h"

enum {
    STEADY_FIRST = 20,   /* the least n */
    STEADY_SPACING = 12, /* the least d */
    STEADY_MOST = 160,   /* of a schedule that does not repeat: micro-batches in which it might */
    STEADY_MOST_IDLE = 16 * STEADY_MOST, /* of one that does, and whose idle time would end */
};

/* Integers of a schedule: sums, then `idle_count` idle times, then `lag_count` lags, `count` in all. */
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

/* Loops: how the resources keep step with the kernels while equal micro-batches pass a layer.
 *
 * A loop is a run of equal micro-batches in one layer, or in one half of it. It begins and ends on
 * the main stream. For each loop and resource there are two figures:
 *
 *   idle   the loop's time less that of the resource's tasks for the loop; it may be negative, as a
 *          task for the loop may run before it or after it
 *   lag    from the end of the resource's last task to the end of the loop; 0 if none of its tasks
 *          belongs to the last two micro-batches
 *
 * Where the schedule repeats with each micro-batch, a longer run has the same lags. The launch
 * thread alone may run ahead further with each micro-batch, because its tasks share no channel with
 * others: its lag stands among the idle times. */

enum { LOOP_IDLES = PIPE_RESOURCE_COUNT + 1, LOOP_LAGS = PIPE_RESOURCE_COUNT };

/* The loops of a step. */
size_t loops_count(const struct setup *setup, const struct plan *plan);

/* Add the figures of the steps [from, to) of a finished schedule to idle_ns[loops * LOOP_IDLES] and
 * to lag_ns[loops * LOOP_LAGS]. */
void loops_read(const struct pipe *pipe, uint32_t from, uint32_t to, int64_t *idle_ns,
                int64_t *lag_ns);

/* The timing of a batch with many micro-batches, from schedules with few and of few steps.
 *
 * Where whole layers are loaded, the ledger wants the same in each step. If the third reported step then adds
 * to every figure what the second added, and all resources keep step (below), all later steps do so, too, and
 * are not built. */

/* A schedule with at most so many passes through a layer, some 30 MB, is built whole unless a run is long. */
enum { SHORTENED_PASSES = 1 << 13 };

/* Is it worth while to leave out micro-batches or steps of this plan? */
bool shortened_pays(const struct plan *plan);

/* As pipeline_run(), into a timing without figures. */
bool shortened_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                   const struct stop_flag *stop, struct timing *out, struct error *why);

/* A timing without figures of `plan`. The caller calls timing_release(), on failure too. */
bool timing_init(struct timing *timing, const struct setup *setup, const struct plan *plan,
                 struct error *why);

/* Read the first `steps` reported steps of a finished schedule. Earlier figures are cleared, names stay. */
void timing_take(struct timing *timing, const struct pipe *pipe, uint32_t steps);

/* Fill in what follows from the figures. */
void timing_finish(struct timing *timing, struct trust trust);
