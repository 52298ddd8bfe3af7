/* A reading: the figures of a schedule while they are still sums.
 *
 * A timing is read from a schedule in integers that add up, so that steady.h can
 * extrapolate them: times and bytes of steps, times by layer, part, stall, basis and assumed
 * figure, and the figures of loops. */
#pragma once

#include "decode/time/steady.h"

/* The time that rests on each assumed figure; those past the first few are left out. */
enum { ASSUMED_MOST = 32 };
struct assumed {
    const char *figure[ASSUMED_MOST]; /* static, so that equal names are equal pointers */
    int64_t ns[ASSUMED_MOST];
    uint32_t count;
};

struct reading {
    struct timing timing; /* without `total_ns`, `assumed` and `trust` until reading_finish() */
    struct assumed assumed;
    size_t loops;     /* of a step */
    int64_t *idle_ns; /* [loops * LOOP_IDLES] over all steps, owned */
    int64_t *lag_ns;  /* [loops * LOOP_LAGS] over all steps, owned */
};

/* The caller calls reading_release() also after a failure. */
bool reading_init(struct reading *reading, const struct setup *setup, const struct plan *plan,
                  struct error *why);
void reading_release(struct reading *reading);

/* Set all integers to 0; the names of assumed figures stay, each at its place. */
void reading_clear(struct reading *reading);

/* Read the first `steps` reported steps of a finished schedule; at most those of the reading.
 * What was read before is cleared. */
void reading_take(struct reading *reading, const struct pipe *pipe, uint32_t steps);

/* The integers of a reading as one list, [reading_count()]: the first are those of steps,
 * [reading_step_count()], the last idle times and lags of the loops. */
size_t reading_count(const struct reading *reading);
size_t reading_step_count(const struct reading *reading);
void reading_get(const struct reading *reading, int64_t *figures);
void reading_set(struct reading *reading, const int64_t *figures);

/* Complete the timing, an exact one, and move it to `out`. */
void reading_finish(struct reading *reading, struct trust trust, struct timing *out);
