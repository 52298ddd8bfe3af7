#include "place/places.h"

#include <assert.h>
#include <math.h>

uint32_t places_add_channel(struct places *places, const char *name, double rate)
{
    assert(places->channel_count < ENGINE_MOST_CHANNELS);
    places->channels[places->channel_count].name = name;
    places->channels[places->channel_count].rate = rate;
    return (uint32_t)places->channel_count++;
}

int places_add(struct places *places, enum tier_id tier, double bandwidth)
{
    assert(places->count < PLACES_MOST);
    int channel = bandwidth > 0 ? (int)places_add_channel(places, tier_kinds[tier].title, bandwidth)
                                : PLACES_NONE;
    places->all[places->count] = (struct place){tier, channel};
    return places->count++;
}

void places_join(struct places *places, int from, int to, const struct place_link *link)
{
    if (link->there > 0) {
        places->way[from][to] = (int)places_add_channel(places, link->there_name, link->there) + 1;
    }
    if (link->back > 0) {
        places->way[to][from] = (int)places_add_channel(places, link->back_name, link->back) + 1;
    }
    if (link->both > 0 && isfinite(link->both)) {
        int both = (int)places_add_channel(places, "both ways", link->both) + 1;
        places->both[from][to] = places->both[to][from] = both;
    }
}

struct place_link place_link_of(const struct profile *profile, enum way_id there, double bytes,
                                double sharers, struct trust *trust)
{
    enum way_id back = way_kinds[there].back;
    enum curve_id both = way_kinds[there].both;
    bool limited = both != CURVE_COUNT && profile_states(profile, both);
    return (struct place_link){
        .there_name = way_kinds[there].name,
        .back_name = way_kinds[back].name,
        .there = way_rate(profile, there, BY_ENGINE, bytes, trust) / sharers,
        .back = way_rate(profile, back, BY_ENGINE, bytes, trust) / sharers,
        .both = limited ? profile_value(profile, both, 0, trust) / sharers : 0,
    };
}

/* ---- paths ------------------------------------------------------------------------------- */

/* The place after `at` on a shortest path to `to`; PLACES_NONE if there is none. `away` gives each
 * place's distance from `to`. */
static int step_nearer(const struct places *places, const int away[PLACES_MOST], int at)
{
    for (int next = 0; next < places->count; next++) {
        if (places->way[at][next] > 0 && away[next] == away[at] - 1) {
            return next;
        }
    }
    return PLACES_NONE;
}

/* Ways from each place to `to`; PLACES_MOST: it cannot be reached. */
static void measure(const struct places *places, int to, int away[PLACES_MOST])
{
    for (int at = 0; at < places->count; at++) {
        away[at] = at == to ? 0 : PLACES_MOST;
    }
    for (int distance = 1; distance < places->count; distance++) {
        for (int at = 0; at < places->count; at++) {
            for (int next = 0; next < places->count; next++) {
                bool nearer = places->way[at][next] > 0 && away[next] == distance - 1;
                away[at] = nearer && away[at] > distance ? distance : away[at];
            }
        }
    }
}

static void cross(struct engine_route *route, int channel)
{
    if (channel >= 0) {
        assert(route->count < ENGINE_MOST_USES);
        route->uses[route->count++] = (struct engine_use){(uint32_t)channel, 1, ENGINE_PER_UNIT};
    }
}

struct engine_route places_route(const struct places *places, int from, int to, bool tiers)
{
    struct engine_route route = {.count = 0};
    int away[PLACES_MOST];
    measure(places, to, away);
    if (from == to || away[from] == PLACES_MOST) {
        return route;
    }
    for (int at = from; at != to;) {
        int next = step_nearer(places, away, at);
        cross(&route, places->way[at][next] - 1);
        cross(&route, places->both[at][next] - 1);
        at = next;
    }
    if (tiers) {
        cross(&route, places->all[from].channel);
        cross(&route, places->all[to].channel);
    }
    return route;
}
