/* What every run receives besides its setup.
 *
 * A question that takes several runs has one context for all of them, owned by its caller, so that
 * each trace is replayed once for the whole question: a sweep for its points, a plan for all rounds
 * of all its candidates.
 */
#pragma once

#include "core/error.h"
#include "core/stop_flag.h"
#include "decode/replay/replay.h"

#include <stdbool.h>
#include <stdint.h>

struct cores;
struct disk_cache;
struct meter;
struct shared;
struct replays;

struct run_context {
    uint32_t threads;         /* of one replay; 0: one per processor. Results do not depend on it */
    struct shared *shared;    /* values that runs share (predict/decode/shared.h) */
    struct replays *expected; /* replays that later runs need (predict/decode/replays.h) */
    struct cores *cores;      /* that its replays use when they are free; may be NULL */
    struct meter *meter;      /* of its expected replays; may be NULL */
    struct disk_cache *cache; /* of replays of earlier questions; the caller's; may be NULL */
    bool rough;               /* a server's steps may be off by some per cent: for runs that only
                               * say where to look (predict/server/decode_surface.h) */
    struct stop_flag *stop;   /* raised to abandon the work */
    struct stop_flag own;     /* `stop` points here if the caller has no flag */
};

/* How its replays are made. */
struct replay_means run_means(const struct run_context *context);

/* Set up a context for `users` threads that run at the same time. `stop` belongs to the caller and
 * outlives the context; it may be NULL. A copy of the struct is another view of the same context,
 * valid as long as the original. On failure there is nothing to release. */
bool run_context_init(struct run_context *context, uint32_t users, struct stop_flag *stop,
                      struct error *why);
void run_context_release(struct run_context *context); /* a zeroed struct is fine */
