/* Places: the tiers of one machine or several, and the ways that join them.
 *
 *     gpu ⇄ host ⇄ host ⇄ gpu     two servers on a network
 *            ⇅
 *           gpu ⇄ gpu             GPUs of one server, on links of their own and on a fabric
 *
 * Each way is a channel; a way and its way back are one more if together they carry less than both
 * alone; and so is a tier whose bandwidth counts. What moves crosses the channels of its path and
 * shares each of them with all that crosses it: as a task of an engine, which gets these channels
 * first and in this order, or as a flow that lasts (below).
 */
#pragma once

#include "core/engine/engine.h"
#include "core/engine/flow.h"
#include "machine/tier.h"

enum { PLACES_MOST = 8, PLACES_NONE = -1 };

struct place {
    enum tier_id tier;
    int channel; /* of its bandwidth, or PLACES_NONE */
};

/* What joins two places: bytes a second there, back, and both together (0 or INFINITY: no limit).
 * A direction of 0 does not exist. */
struct place_link {
    const char *there_name, *back_name;
    double there, back, both;
};

struct places {
    struct place all[PLACES_MOST];
    int way[PLACES_MOST][PLACES_MOST], both[PLACES_MOST][PLACES_MOST]; /* channel + 1; 0: none */
    struct {
        const char *name; /* static */
        double rate;      /* bytes a second */
    } channels[ENGINE_MOST_CHANNELS];
    int count, channel_count;
};

/* Add a place, to a zeroed struct at first. A `bandwidth` of 0 does not count. Returns its
 * number. */
int places_add(struct places *places, enum tier_id tier, double bandwidth);

/* Add a channel that is no place's and no way's. Returns its number. */
uint32_t places_add_channel(struct places *places, const char *name, double rate);

void places_join(struct places *places, int from, int to, const struct place_link *link);

/* What a way and its way back are on a machine, for parts of `bytes`, of which `sharers` have an
 * equal part each; a direction that the machine does not state is 0. */
struct place_link place_link_of(const struct profile *profile, enum way_id there, double bytes,
                                double sharers, struct trust *trust);

/* Equal servers of one machine: the replicas of a fleet. Each GPU has a link to its host, and the
 * machine's `fabric` to each GPU beside it; its `network` joins the hosts. What the machine does
 * not state is not there. */
struct place_servers {
    const struct profile *profile; /* of the machine, borrowed */
    int count, gpus;               /* servers, and GPUs of each */
    double sharers;                /* so many GPUs use an uplink and its DRAM, at the same time */
    double bytes;                  /* of a message */
    bool bandwidths;               /* those of tiers count */
};

static inline int places_gpu(const struct place_servers *servers, int server, int gpu)
{
    return server * (servers->gpus + 1) + gpu;
}

static inline int places_host(const struct place_servers *servers, int server)
{
    return places_gpu(servers, server, servers->gpus);
}

/* Add their places, which are the first ones, PLACES_MOST at most. `trust` is lowered to that of
 * the machine's figures. */
void places_add_servers(struct places *places, const struct place_servers *servers,
                        struct trust *trust);

/* The channels of the shortest path between two places, for each byte moved; 0 of them if there is
 * no path. `tiers`: with those of the places at its ends. */
struct engine_route places_route(const struct places *places, int from, int to, bool tiers);

/* The shares of channels while a set of flows lasts: max-min fair, as on the engine's channels. */

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
