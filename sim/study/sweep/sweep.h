/* A sweep: all points of a scenario, several at once, each stored when done.
 *
 * Points are computed by worker threads and handed over in point order, so that output and database
 * are the same for any number of jobs. A run that the store has is read back, not run again. Raising
 * the stop flag ends replays in flight at their next head; the sweep then drops the points that
 * wanted them, keeps what is stored, and returns with `interrupted` set.
 */
#ifndef STUDY_SWEEP_SWEEP_H
#define STUDY_SWEEP_SWEEP_H

#include "base/error.h"
#include "result/result.h"
#include "run/context.h"
#include "scenario/scenario.h"
#include "store/store.h"
#include "study/sweep/replication.h"
#include "study/sweep/required_basis.h"

/* Every `count`th point, from number `number` (1 ...) on: what one of several machines runs. All
 * points where `count` is 0. */
struct sweep_shard {
    uint32_t number, count;
};

/* "3/8". */
bool sweep_shard_parse(const char *text, struct sweep_shard *out, struct error *why);

struct sweep_options {
    struct store *store; /* NULL: keep nothing */
    /* What the runs have in common with other runs of the same question, with room for
     * sweep_users() threads. */
    const struct run_context *runs;
    /* Threads: points at once, the rest shared among their replays; 0: one a processor. */
    uint32_t jobs;
    struct sweep_shard shard;
    /* Draws of every run, into its result. The sweep says when they are to stop, and counts them.
     */
    struct replication_options replications;
    struct required_basis required_basis; /* a run that rests on less is an error */
    bool keep_failed; /* the only point of a scenario may fail like one of several, see below */
    /* Called in point order with the point's index, in the calling thread. May be NULL. Who takes
     * the result for himself leaves one that result_init() made. */
    bool (*on_result)(uint32_t index, struct result *result, void *context, struct error *why);
    void (*on_progress)(uint32_t done, uint32_t points, void *context); /* the first is of none */
    void (*on_draws)(uint32_t draws, void *context);     /* of all runs so far; as on_progress */
    void (*on_replays)(uint32_t replays, void *context); /* made so far; likewise */
    void *context;
};

/* Threads of a context that serves sweeps with so many jobs, whose runs are replicated or not. */
uint32_t sweep_users(uint32_t jobs, bool replicated);

/* Run all points. Of several one that cannot be run is a result, whose status is failed and whose
 * message says why; it is not kept, and the others run. A scenario of one point fails with its
 * error, unless `keep_failed`; all stop where a result cannot be taken, or rests on less than is
 * required. A sweep that fails raises the stop flag of its context, which ends what is in work. */
bool sweep_run(const struct scenario *scenario, const struct sweep_options *options,
               bool *interrupted, struct error *why);

/* The same with results for later: `results` has room for all points, and `count` says how many
 * there are. Of the options' calls on_progress alone is made. */
bool sweep_keep(const struct scenario *scenario, const struct sweep_options *options,
                struct result *results, uint32_t *count, bool *interrupted, struct error *why);

/* Is there a point that can be resolved? Else fail with what the first one lacks: it is most likely
 * what they all lack. */
bool sweep_has_point(const struct scenario *scenario, struct error *why);

/* Points that could not be run. Commands that show runs as rows show all of them, and fail then. */
struct sweep_failures {
    uint32_t points, failed; /* counted so far */
    char first[512];         /* why, of the first one */
};
void sweep_count(struct sweep_failures *failures, const struct result *result);

/* False, with how many failed and why, where some did. */
bool sweep_all_ran(const struct sweep_failures *failures, struct error *why);

/* The same of results that are all there. */
bool sweep_check(const struct result *results, uint32_t count, struct error *why);

#endif
