/* Arrival times in place of the file's: drawn at random, evenly spaced, or all at once. */
#pragma once

#include "server/requests/requests.h"

enum arrivals_kind {
    ARRIVALS_RANDOM,   /* gaps from a gamma distribution */
    ARRIVALS_CONSTANT, /* equal gaps */
    ARRIVALS_AT_ONCE,  /* all at the beginning, as with an infinite rate */
};
extern const char *const arrivals_names[]; /* by kind; ends with NULL */

/* Let all requests arrive at once. */
void arrivals_at_once(struct requests *requests);

/* Draw new arrival times; the order of requests stays. The gaps come from a gamma distribution with
 * shape `shape` (1: a Poisson process; below 1: bursts; INFINITY: equal gaps). They are then scaled,
 * as vLLM's benchmark scales them, so that their mean is exactly 1 / `rate` seconds: one draw of few
 * requests would be some 10 % off. If requests are turns of sessions, only the first turns are drawn, so that all
 * turns together come at `rate`; later ones get the time of the first, and arrive when the server
 * has answered the turn before. The first request arrives at 0. Fails if the last one would arrive
 * after REQUEST_MOST_ARRIVAL_S. */
bool arrivals_draw(struct requests *requests, double rate, double shape, uint64_t seed,
                   struct error *why);
