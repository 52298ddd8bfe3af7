/* What every run receives besides its setup. All runs of a question share one context, owned by its caller,
 * so that each trace is replayed once for all of them. */
#pragma once

#include "core/error.h"
#include "core/stop_flag.h"
#include "decode/replay/replay.h"

#include <stdint.h>

struct cores;
struct disk_cache;
struct meter;
struct shared;
struct replays;
struct stream_question;

struct run_context {
    uint32_t threads;         /* of one replay; 0: one per processor. Results do not depend on it */
    struct shared *shared;    /* values that runs share (below) */
    struct replays *expected; /* replays that later runs need (predict/decode/replays.h) */
    struct cores *cores;      /* that its replays use when they are free; may be NULL */
    struct meter *meter;      /* of its expected replays; may be NULL */
    struct disk_cache *cache; /* of replays of earlier questions; the caller's; may be NULL */
    bool rough;               /* a server's steps may be off by some per cent: for runs that only
                               * say where to look (predict/server/decode_surface.h) */
    const struct stream_question *question; /* of a server in steady state, all that is asked
                                             * (predict/server/stream_question.h); NULL: every figure */
    struct stop_flag *stop;                 /* raised to abandon the work */
    struct stop_flag own;                   /* `stop` points here if the caller has no flag */
};

/* How its replays are made. */
struct replay_means run_means(const struct run_context *context);

/* Set up a context for `users` threads at a time. `stop` (or NULL) outlives it. A copy of the struct is
 * another view of it, valid as long as the original. On failure there is nothing to release. */
bool run_context_init(struct run_context *context, uint32_t users, struct stop_flag *stop,
                      struct error *why);
void run_context_release(struct run_context *context); /* a zeroed struct is fine */

/* Values that the runs of one question share because they are expensive to make: replays, cosines of a
 * trace's heads, steps of a server's surface, curves of prefixes. Hits depend on the trace and the plan, not
 * on time. So points that differ only in the machine, or in how a system moves data, waits and launches,
 * share one replay. The first thread that asks for a key makes its value; others that ask meanwhile wait. A
 * value is a pure function of its key, so it does not matter which thread makes it. Of the unused values, the
 * most recently used are kept. */

struct shared_entry;

/* Room for `users` threads that hold twelve values each: four of a run in progress, and one for each run that
 * stays open beside it. Once `*stop` is raised, no more values are made: asking for an absent one is an
 * error. A make() that takes long checks the flag itself. `stop` outlives the values and may be NULL. */
struct shared *shared_create(uint32_t users, const struct stop_flag *stop, struct error *why);
void shared_destroy(struct shared *shared); /* all values have been released; NULL is fine */

/* Threads that wait for a value give back one of these cores meanwhile. NULL, as at first: they
 * hold none. Must not be called while a thread makes a value. */
void shared_cores(struct shared *shared, struct cores *cores);

/* How a value is made and destroyed. Where make() fails, the next thread that asks tries again. */
struct shared_kind {
    void *(*make)(void *context, struct error *why);
    void (*destroy)(void *value);
};

/* The value of `key`, made with `context` if it does not exist; NULL on failure. The caller gives
 * `*entry` back with shared_release(); after that the value may be gone. */
const void *shared_get(struct shared *shared, const struct shared_kind *kind, uint64_t key,
                       void *context, struct shared_entry **entry, struct error *why);
void shared_release(struct shared *shared, struct shared_entry *entry); /* NULL is fine */
