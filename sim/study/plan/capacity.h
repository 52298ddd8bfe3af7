/* The capacity of a server: the highest load, a rate of requests or a number of clients, at which its
 * queue is stationary and its limits hold. A property of the server, not of a list: made-up requests are
 * a stream (server/requests/stream.h), however many somebody thought of.
 *
 * Loads are tried until one that holds and a higher one that does not are close (grid.h). A try runs only
 * until it is on one side of the limits (predict/server/stream_question.h); the answer is then run like
 * `simulate` runs it, to the full precision of its figures, and has to hold there, too. So `plan` answers;
 * `advise` takes fewer tries (planning.h, `rough`), and with a rate tries numbers of servers
 * (advise/fleet_size.h).
 *
 * Where to begin follows from a cheap run: requests that all come at once show how many a second a server
 * answers at most. No figure of it is ever shown. */
#pragma once

#include "predict/scenario/scenario.h"
#include "study/plan/target.h"

/* Let made-up requests go on without end. `is_stream` receives whether they do; others, such as a
 * file's, are served as they are. False: memory is out. */
bool capacity_set_stream(struct scenario *scenario, bool *is_stream, struct error *why);

/* A limit on times is mostly met up to this share of what a server answers at most; and without one the queue
 * is stationary up to the other. */
#define CAPACITY_USUAL 0.7
#define CAPACITY_UNLIMITED 0.9

/* Are the requests made up, and turns of sessions? While few come, more of their prompts are cached. */
bool capacity_has_sessions(const struct scenario *scenario);

/* Near its capacity a server may hold a load for thousands of requests, and break down for good once chance
 * lets a queue form or fills its cache. So what is told of a load, that it holds or misses, is asked in
 * several draws of its requests, as `simulate` runs them: with the scenario's seed and the next ones. An
 * answer has to hold in all of them. However far one misses, another may hold: a tail jumps at a collapse. */
enum { CAPACITY_DRAWS = 3 };

struct capacity_draws {
    uint8_t asked, missed, grown; /* bit k: with the k-th next seed; grown: its queue does */
};

/* The draws in which a load is to be asked next, into `values`: draw k of the load `value` of a search of
 * `count` is the value k * count + `value`. Returns their number. */
uint32_t draws_next(const struct capacity_draws *draws, uint32_t value, uint32_t count,
                    uint32_t *values);

/* Let the scenario draw the requests of draw k; and take the run of draw k of a load. `kept` becomes the first of
 * its runs that misses, or else its own. Once all are asked, and some hold and some miss, a note of it says so.
 * Returns whether it is this run. */
bool draws_set(struct scenario *scenario, uint32_t draw, struct error *why);
bool draws_take(struct capacity_draws *draws, uint32_t draw, bool misses, struct result *run,
                struct result *kept);

/* How many were asked, and how many of them miss. */
uint32_t draws_asked(const struct capacity_draws *draws);
uint32_t draws_missed(const struct capacity_draws *draws);

/* Requests that tell what a server misses that has nothing else to do. */
enum { CAPACITY_IDLE = 250 };

/* Let a few requests come at once; and the requests a second of that run, 0: it cannot be. */
bool capacity_set_at_once(struct scenario *scenario, struct error *why);
double capacity_at_once(const struct result *result);
