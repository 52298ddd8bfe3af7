/* One run of decode steps: a pure function from a setup to a result.
 *
 * A run plans, replays and times. run_open() does all three, and keeps the plan and the replay, so
 * that run_again() can time them on another machine. run_step() returns only the time of a step, for a
 * server that needs many.
 *
 * Of a context that grows, a run is several (growth.c): plan, ranges and timeline are those of the whole
 * context, and run_again() runs it anew. A result holds what the run computed: memory, hits, times and their
 * basis. The identity of the scenario's point is written by the caller (predict/answer.h). */
#pragma once

#include "core/error.h"
#include "decode/plan/memory_plan.h"
#include "decode/time/pipeline.h"
#include "predict/decode/context.h"
#include "predict/result/result.h"

/* Plan alone: how the setup uses its memory. The caller releases the plan. */
bool run_plan(const struct setup *setup, const struct run_context *context, struct plan *plan,
              struct error *why);

/* Plan, and register the run's replay with `context->expected`. */
bool run_expect(const struct setup *setup, const struct run_context *context, struct error *why);

/* A run that was planned, replayed and timed, and can be timed again. A setup that does not fit in memory is
 * a result, not an error. The run holds up to four values of `context->shared`. `setup` and `context` outlive
 * it; the caller releases the result. NULL on failure, without a result. */
struct run;
struct run *run_open(const struct setup *setup, const struct run_context *context,
                     struct result *result, struct error *why);
void run_close(struct run *run); /* NULL is fine */

/* The result of a context that grows, without a run to keep; as run_open(), which calls it. */
bool run_growth(const struct setup *setup, const struct run_context *context, struct result *result,
                struct error *why);

/* Time the run, which fits in memory, again with other figures of its machine. Plan and replay stay, only
 * times and hits are written. Several threads may call this at once. */
bool run_again(const struct run *run, const struct setup *setup, struct result *result,
               struct error *why);

/* The time of one step. */
struct step_answer {
    int64_t ns;                      /* the mean of the steps */
    int64_t stall_ns[PART_COUNT];    /* the part in which the main stream waits, by cause */
    double basis_share[BASIS_COUNT]; /* shares of the time, by basis */
    int64_t in_bytes;                /* over one GPU's link */
    double resident_share;           /* the plan's */
    bool asks_trace;                 /* hits depend on the setup's trace */
    struct trust trust;
};

/* Plan, replay, time. Memory is not checked: `setup` must have `unlimited_memory` set. */
bool run_step(const struct setup *setup, const struct run_context *context,
              struct step_answer *answer, struct error *why);

/* The run's results with one figure of the machine at the two ends of its range. */
struct run_range {
    enum curve_id curve;
    struct result ends[2]; /* least, most */
};

struct run_ranges {
    struct run_range *all; /* [count] owned */
    uint32_t count;
    struct result base; /* with no figure changed, if the ends are made by a share */
};

/* Time a run again with each figure that it reads and that has a range, one figure at a time, at both ends of
 * the range. If `by` is above 0: with every figure that it reads, smaller and larger by the share `by`; then
 * only one step is timed, which lacks as much in HBM as half of the steps do, and the results have no more
 * than its time. Plan and replay stay. A run without a time has no ranges. The caller releases the ranges. */
bool run_setup_ranges(const struct setup *setup, double by, const struct run_context *context,
                      struct run_ranges *ranges, struct error *why);
void run_ranges_release(struct run_ranges *ranges);

/* Write one reported step of the run as a Chrome trace. A setup that does not fit in memory is an error. */
bool run_timeline(const struct setup *setup, FILE *out, struct error *why);
