/* One run: a setup in, a result out; a pure function. */
#ifndef STUDY_RUN_H
#define STUDY_RUN_H

#include "base/error.h"
#include "decode/plan/plan.h"
#include "result/result.h"
#include "study/replays.h"
#include "study/shared.h"

#include <stdio.h>

/* The run's identity: hash of everything that decides its result, as 16 hex digits. Cheap: nothing
 * is replayed. */
bool run_identity(const struct setup *setup, char run[17], struct error *why);

/* Plan alone: what the setup does with its memory. The caller releases the plan. */
bool run_plan(const struct setup *setup, uint32_t threads, struct shared *shared,
              struct plan *plan, struct error *why);

/* Plan, and tell `replays` what the run will replay. */
bool run_expect(const struct setup *setup, uint32_t threads, struct shared *shared,
                struct replays *replays, struct error *why);

/* Plan, replay, time. What does not fit in memory is a result (status out-of-memory, with a
 * message), not an error. `threads`: for the replay (0: one a processor); the result is the same
 * for any number. `shared`: of the runs that may have a replay in common; each holds four values of
 * it meanwhile. */
bool run_setup(const struct setup *setup, uint32_t threads, struct shared *shared,
               struct result *result, struct error *why);

/* A run that was planned and replayed, and can be timed again. */
struct run;

/* run_setup(), and keep the run open. `setup` and `shared` outlive it. NULL on failure, and there is
 * no result then. */
struct run *run_open(const struct setup *setup, uint32_t threads, struct shared *shared,
                     struct result *result, struct error *why);
void run_close(struct run *run); /* NULL is fine */

/* Time it again, as `setup` says: the same one but for the figures of its machine. What was planned
 * and replayed stays, and only times and hits are written. A server serves anew, and may have
 * another seed. Of a run that has a time; threads may call it at once. */
bool run_again(const struct run *run, const struct setup *setup, struct result *result,
               struct error *why);

/* The run's result with one figure of the machine at either end of its range. */
struct run_range {
    enum curve_id curve;
    struct result ends[2]; /* least, most */
};

/* run_setup(), and the run again with each figure that it reads and that has a range, at both ends
 * of it, one figure at a time; or with each figure that it reads, less and more by the share `by`.
 * What was planned and replayed stays: only time is computed anew. No ranges where the run has no
 * time. The caller releases result and ranges. */
bool run_setup_ranges(const struct setup *setup, double by, uint32_t threads, struct shared *shared,
                      struct result *result, struct run_range **ranges, uint32_t *count,
                      struct error *why);
void run_ranges_release(struct run_range *ranges, uint32_t count);

/* Write one reported step of the run as a Chrome trace. A setup that does not fit in memory is an
 * error. */
bool run_timeline(const struct setup *setup, FILE *out, struct error *why);

#endif
