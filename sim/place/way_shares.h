/* The shares of channels while a set of flows lasts: max-min fair, as on the engine's channels. */
#ifndef PLACE_WAY_SHARES_H
#define PLACE_WAY_SHARES_H

#include "engine/flow.h"
#include "place/places.h"

struct way_shares {
    struct flow_set set;
    uint32_t count;
};

/* Flows over `routes` [count] of the places. On failure there is nothing to release. */
bool way_shares_init(struct way_shares *shares, const struct places *places,
                     const struct engine_route *routes, uint32_t count, struct error *why);
void way_shares_release(struct way_shares *shares); /* a zeroed struct is fine */

/* Set the `rate` of each flow [count], in bytes a second. A flow can use up to `most`, or INFINITY;
 * 0: it is not there, nor is any flow whose route crosses nothing. */
void way_shares_find(struct way_shares *shares, const double *most, double *rate);

#endif
