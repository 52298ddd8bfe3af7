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

#include "predict/result/result.h"
#include "predict/scenario/scenario.h"

/* Let made-up requests go on without end. `is_stream` receives whether they do; others, such as a
 * file's, are served as they are. False: memory is out. */
bool capacity_set_stream(struct scenario *scenario, bool *is_stream, struct error *why);

/* A limit on times is mostly met up to this share of what a server answers at most; and without one the queue
 * is stationary up to the other. */
#define CAPACITY_USUAL 0.7
#define CAPACITY_UNLIMITED 0.9

/* Are the requests made up, and turns of sessions? While few come, more of their prompts are cached. */
bool capacity_has_sessions(const struct scenario *scenario);

/* A server that finds prompts in its cache may hold a load for thousands of requests, and break down for good
 * once chance fills the cache. So an answer has to hold, by less than a tenth off its limits (TARGET_AMPLE), in
 * so many more draws of its requests: values past the `count` of a search are its draws. */
enum { CAPACITY_DRAWS = 2 };
uint32_t capacity_draws(const struct result *holds, uint32_t count, uint32_t *values);
bool capacity_set_draw(struct scenario *scenario, uint32_t value, uint32_t count,
                       struct error *why);

/* Note on a draw that it is one. */
void capacity_note_draw(struct result *result);

/* Requests that tell what a server misses that has nothing else to do. */
enum { CAPACITY_IDLE = 250 };

/* Let a few requests come at once. */
bool capacity_set_at_once(struct scenario *scenario, struct error *why);

/* Requests a second of that run; 0: it cannot be. */
double capacity_at_once(const struct result *result);
