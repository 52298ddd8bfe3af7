#include "place/way_shares.h"

bool way_shares_init(struct way_shares *shares, const struct places *places,
                     const struct engine_route *routes, uint32_t count, struct error *why)
{
    flow_init(&shares->set);
    shares->count = count;
    bool ok = flow_reserve(&shares->set, count, why);
    for (int i = 0; ok && i < places->channel_count; i++) {
        ok = flow_channel_add(&shares->set, places->channels[i].name, places->channels[i].rate,
                              why) != ENGINE_NONE;
    }
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = flow_route_add(&shares->set, &routes[i], why) != ENGINE_NONE;
    }
    if (!ok) {
        way_shares_release(shares);
    }
    return ok;
}

void way_shares_release(struct way_shares *shares)
{
    flow_release(&shares->set);
    shares->count = 0;
}

void way_shares_find(struct way_shares *shares, const double *most, double *rate)
{
    struct flow_set *set = &shares->set;
    set->count = 0;
    for (uint32_t i = 0; i < shares->count; i++) {
        rate[i] = 0;
        if (most[i] > 0 && set->routes[i].crossing_count > 0) {
            flow_begin(set, i, i, 1, most[i], 0);
        }
    }
    if (set->count > 0) {
        flow_refresh(set, 0);
    }
    for (size_t i = 0; i < set->count; i++) {
        rate[set->flows[i].task] = set->flows[i].rate;
    }
}
