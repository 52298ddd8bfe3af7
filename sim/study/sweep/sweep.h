/* A sweep: all points of a scenario, several at once, each stored when done and delivered in point order by
 * the calling thread: output and database are the same for any number of jobs. What is stored is read back.
 * Raising the stop flag drops unfinished points and fails with ERROR_INTERRUPTED. */
#pragma once

#include "core/error.h"
#include "predict/decode/context.h"
#include "predict/result/result.h"
#include "predict/scenario/scenario.h"
#include "store/store.h"
#include "study/sweep/replication.h"

/* One machine's part of a sweep: every `count`th point, from `number` (1) on; count 0: all points. */
struct sweep_shard {
    uint32_t number, count;
};

/* Read "3/8". */
bool sweep_shard_parse(const char *text, struct sweep_shard *out, struct error *why);

struct sweep_options {
    struct store *store; /* NULL: keep nothing */
    /* Shared with other runs of the same question; with room for sweep_users() threads. */
    const struct run_context *runs;
    /* Points computed at once (0: one per processor). Replays of fewer points share the other threads. */
    uint32_t jobs;
    struct sweep_shard shard;
    uint32_t replications; /* draws of every run, added to its result; 0: none */
    bool keep_failed;      /* even a scenario's only point may fail; see sweep_run() */
    /* Called in point order (or NULL). A callee that keeps the result replaces it by result_init(). */
    bool (*on_result)(uint32_t index, struct result *result, void *context, struct error *why);
    /* First with `done` 0, and now and then; `share` of the time has passed, 0: unknown. */
    void (*on_progress)(uint32_t done, uint32_t points, double share, void *context);
    void *context;
};

/* What all runs of a study share. */
struct study {
    struct store *store;            /* NULL: keep nothing */
    uint32_t jobs;                  /* 0: one per processor */
    const struct run_context *runs; /* with room for these jobs */
    /* So much of `all` is done (0: unknown), and this is at work. May be NULL. */
    void (*on_progress)(uint32_t done, uint32_t all, const char *what, void *context);
    void *context;
};

/* Threads that a context needs for sweeps with `jobs` jobs, with or without replications. */
uint32_t sweep_users(uint32_t jobs, bool replicated);

/* Run all points. One of several that cannot run has the status failed and a message, and is not stored. A
 * scenario of one point fails with the point's error, unless `keep_failed`. The sweep stops if on_result
 * fails, or if a run rests on less than the required basis, and then ends all running work. */
bool sweep_run(const struct scenario *scenario, const struct sweep_options *options,
               struct error *why);

/* The same for a study, whose points may all fail: keep the results, in `results` [points]. */
bool sweep_keep(const struct scenario *scenario, const struct study *study, struct result *results,
                uint32_t *count, struct error *why);

/* Fail if the scenario sweeps a key, as a study has axes of its own. */
bool sweep_is_one_point(const struct scenario *scenario, struct error *why);

/* Can at least one point be resolved? Else fail with the error of the first, most likely that of all. */
bool sweep_has_point(const struct scenario *scenario, struct error *why);

/* Points that could not run. Commands that print runs as rows print them all, and then fail. */
struct sweep_failures {
    uint32_t points, failed, unfit; /* so far; unfit: not enough memory */
    struct error first;             /* that of the first that failed */
};
void sweep_count(struct sweep_failures *failures, const struct result *result);

/* Fail if points failed; the error has their number and the first one's message. */
bool sweep_all_ran(const struct sweep_failures *failures, struct error *why);

/* sweep_all_ran() for a complete set of results. */
bool sweep_check(const struct result *results, uint32_t count, struct error *why);
