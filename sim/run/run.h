/* One run of decode steps: a setup in, a result out; a pure function.
 *
 * A run goes through plan, replay and time. run_setup() does all three; run_open() keeps the plan
 * and the replay, so that run_again() can time them on another machine; run_step() answers with the
 * time of a step and no more, for a server that asks for many.
 *
 * Results hold what the run computed: memory, hits, times, and what they rest on. The identity of
 * the scenario's point that was run is its caller's to write (serving/answer.h).
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "base/error.h"
#include "decode/plan/plan.h"
#include "decode/time/pipeline.h"
#include "result/result.h"
#include "run/context.h"

#include <stdio.h>

/* Plan alone: what the setup does with its memory. The caller releases the plan. */
bool run_plan(const struct setup *setup, const struct run_context *context, struct plan *plan,
              struct error *why);

/* Plan, and tell `context->expected` what the run will replay. */
bool run_expect(const struct setup *setup, const struct run_context *context, struct error *why);

/* Plan, replay, time. A setup that does not fit in memory is a result (status out-of-memory, with a
 * message), not an error. The result is the same for any number of threads. The run holds four
 * values of `context->shared` meanwhile. The caller releases the result; after a failure there is
 * nothing to release. */
bool run_setup(const struct setup *setup, const struct run_context *context, struct result *result,
               struct error *why);

/* A run that was planned and replayed, and can be timed again. */
struct run;

/* run_setup(), and keep the run open. `setup` and `context` outlive it. NULL on failure, and there
 * is no result then. */
struct run *run_open(const struct setup *setup, const struct run_context *context,
                     struct result *result, struct error *why);
void run_close(struct run *run); /* NULL is fine */

/* Time it again, as `setup` says: the same one but for the figures of its machine. Plan and replay
 * stay, and only times and hits are written. For a run that fits in memory; several threads may
 * call it at once. */
bool run_again(const struct run *run, const struct setup *setup, struct result *result,
               struct error *why);

/* What one step takes. */
struct step_answer {
    int64_t ns;                    /* the mean of the steps */
    int64_t stall_ns[PART_COUNT];  /* of it: the main stream waits, by cause */
    double basis_share[BASIS_COUNT]; /* of the time, by what it rests on */
    int64_t h2d_bytes;             /* over one GPU's link */
    bool asks_trace;               /* hits rest on the setup's trace */
    struct trust trust;
};

/* Plan, replay, time. Memory is not asked whether it has room: `setup` says `unlimited_memory`. */
bool run_step(const struct setup *setup, const struct run_context *context,
              struct step_answer *answer, struct error *why);

/* The run's result with one figure of the machine at either end of its range. */
struct run_range {
    enum curve_id curve;
    struct result ends[2]; /* least, most */
};

/* run_setup(), and the run again with each figure that it reads and that has a range, at both ends
 * of it, one figure at a time; or, if `by` is above 0, with each figure that it reads, less and more
 * by the share `by`. Plan and replay stay: only time is computed anew. No ranges if the run has no
 * time. The caller releases result and ranges. */
bool run_setup_ranges(const struct setup *setup, double by, const struct run_context *context,
                      struct result *result, struct run_range **ranges, uint32_t *count,
                      struct error *why);
void run_ranges_release(struct run_range *ranges, uint32_t count);

/* Write one reported step of the run as a Chrome trace. A setup that does not fit in memory is an
 * error. */
bool run_timeline(const struct setup *setup, FILE *out, struct error *why);

#endif
