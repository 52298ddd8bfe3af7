/* When requests arrive, where the file's own times are not meant.
 */
#ifndef SERVE_ARRIVALS_H
#define SERVE_ARRIVALS_H

#include "serve/requests.h"

/* Let the requests arrive in their order, `rate` a second on average: times between two are drawn
 * from a gamma distribution of shape `shape` (1: a Poisson process; below: bursts). The first one
 * arrives at 0. Fails where one would arrive after REQUEST_MOST_ARRIVAL_S. */
bool arrivals_draw(struct requests *requests, double rate, double shape, uint64_t seed,
                   struct error *why);

#endif
