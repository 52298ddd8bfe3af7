/* What every run is given besides its setup.
 *
 * Whoever asks a question that takes several runs owns one context for all of them, so that each
 * trace is replayed once for the whole question: a sweep for its points, a plan for all the rounds
 * of all its candidates.
 */
#ifndef RUN_CONTEXT_H
#define RUN_CONTEXT_H

#include "base/error.h"
#include "base/stop_flag.h"

#include <stdbool.h>
#include <stdint.h>

struct shared;
struct replays;

struct run_context {
    uint32_t threads;         /* of one replay; 0: one a processor. Results do not depend on it */
    struct shared *shared;    /* values that runs have in common (run/shared.h) */
    struct replays *expected; /* what is known of later runs (run/replays.h); NULL: nothing */
    struct stop_flag *stop;   /* raised by whoever gives the work up */
    struct stop_flag own;     /* where `stop` points if the caller has no flag */
};

/* For `users` threads that run at the same time. `stop` stays the caller's and outlives the
 * context; it may be NULL. A copy of the struct is another view of the same context, valid as long as
 * the original. On failure there is nothing to release. */
bool run_context_init(struct run_context *context, uint32_t users, struct stop_flag *stop,
                      struct error *why);
void run_context_release(struct run_context *context); /* of a zeroed struct is fine */

#endif
