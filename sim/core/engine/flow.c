/* Flows: progressive filling in rounds. Each round finds the level to which all open rates can rise
 * together and closes the flows that stop there: those with a lower cap, or else those that cross
 * the fullest channel. Sums are computed anew in each round and never by subtraction, so that
 * rounding errors do not add up. The level never falls. */

#include "core/engine/flow.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <sys/param.h>

#include "core/array.h"

#define OPEN (-1.0) /* `fair` of a flow that still rises */

uint32_t flow_channel_add(struct flow_set *set, double capacity)
{
    assert(set->channel_count < ENGINE_MOST_CHANNELS && capacity > 0.0 && isfinite(capacity));
    set->channel_capacity[set->channel_count] = capacity;
    set->holders_changed = true;
    return set->channel_count++;
}

uint32_t flow_route_add(struct flow_set *set, const struct engine_route *route, struct error *why)
{
    assert(route->count <= ENGINE_MOST_USES);
    if (!array_reserve(&set->routes, &set->route_capacity, set->route_count + 1,
                       sizeof *set->routes, why)) {
        return ENGINE_NONE;
    }
    struct flow_route *added = &set->routes[set->route_count];
    *added = (struct flow_route){0};
    for (uint32_t i = 0; i < route->count; i++) {
        const struct engine_use *use = &route->uses[i];
        assert(use->channel < set->channel_count && use->weight > 0.0 && isfinite(use->weight));
        if (use->kind == ENGINE_WITHHELD) {
            added->holding[added->holding_count] = use->channel;
            added->withheld[added->holding_count++] = use->weight;
        } else {
            added->crossing[added->crossing_count] = use->channel;
            added->at_cap[added->crossing_count] = use->kind == ENGINE_AT_CAP;
            added->weight[added->crossing_count++] = use->weight;
        }
    }
    return (uint32_t)set->route_count++;
}

bool flow_reserve(struct flow_set *set, size_t needed, struct error *why)
{
    return array_reserve(&set->flows, &set->capacity, needed, sizeof *set->flows, why) &&
           array_reserve(&set->ended, &set->ended_capacity, needed, sizeof *set->ended, why);
}

void flow_hold(struct flow_set *set, uint32_t route, int change)
{
    if (route != ENGINE_NONE && set->routes[route].holding_count > 0) {
        set->routes[route].holders += (uint32_t)change;
        set->holders_changed = true;
        set->changed = true;
    }
}

static const struct flow_route *route_of(const struct flow_set *set, const struct flow *flow)
{
    static const struct flow_route nowhere;
    return flow->route == ENGINE_NONE ? &nowhere : &set->routes[flow->route];
}

void flow_begin(struct flow_set *set, uint32_t task, uint32_t route, double amount, double cap,
                int64_t now_ns)
{
    assert(set->count < set->capacity);
    struct flow *flow = &set->flows[set->count++];
    *flow = (struct flow){
        .task = task,
        .route = route,
        .cap = cap,
        .amount = amount,
        .left = amount,
        .since_ns = now_ns,
        .end_ns = INT64_MAX,
    };
    const struct flow_route *over = route_of(set, flow);
    for (uint32_t use = 0; use < over->crossing_count; use++) {
        flow->weight[use] = over->at_cap[use] ? over->weight[use] / cap : over->weight[use];
    }
    set->changed = true;
}

/* Find the capacity of each channel that is not withheld. */
static void find_unheld(struct flow_set *set)
{
    double withheld[ENGINE_MOST_CHANNELS] = {0.0};
    for (size_t i = 0; i < set->route_count; i++) {
        const struct flow_route *route = &set->routes[i];
        if (route->holders == 0) {
            continue;
        }
        for (uint32_t use = 0; use < route->holding_count; use++) {
            withheld[route->holding[use]] += route->holders * route->withheld[use];
        }
    }
    for (uint32_t c = 0; c < set->channel_count; c++) {
        set->unheld[c] =
            MAX(set->channel_capacity[c] - withheld[c], FLOW_FLOOR * set->channel_capacity[c]);
    }
    set->holders_changed = false;
}

/* The channel that the open flows fill first, or ENGINE_NONE; `level`: their rate at which it is full. */
static uint32_t find_tightest(const struct flow_set *set, const double *room, double *level)
{
    double demand[ENGINE_MOST_CHANNELS] = {0.0};
    for (size_t i = 0; i < set->count; i++) {
        const struct flow *flow = &set->flows[i];
        const struct flow_route *route = route_of(set, flow);
        if (flow->fair == OPEN) {
            for (uint32_t use = 0; use < route->crossing_count; use++) {
                demand[route->crossing[use]] += flow->weight[use];
            }
        }
    }
    uint32_t tightest = ENGINE_NONE;
    *level = INFINITY;
    for (uint32_t c = 0; c < set->channel_count; c++) {
        if (demand[c] > 0.0 && room[c] / demand[c] < *level) {
            *level = room[c] / demand[c];
            tightest = c;
        }
    }
    return tightest;
}

static bool crosses(const struct flow_set *set, const struct flow *flow, uint32_t channel)
{
    const struct flow_route *route = route_of(set, flow);
    for (uint32_t use = 0; use < route->crossing_count; use++) {
        if (route->crossing[use] == channel && flow->weight[use] > 0.0) {
            return true;
        }
    }
    return false;
}

static void close_flow(const struct flow_set *set, struct flow *flow, double rate, double *room)
{
    const struct flow_route *route = route_of(set, flow);
    flow->fair = rate;
    for (uint32_t use = 0; use < route->crossing_count; use++) {
        uint32_t channel = route->crossing[use];
        room[channel] = MAX(room[channel] - flow->weight[use] * rate, 0.0);
    }
}

/* Close the open flows that cross `channel`; ENGINE_NONE: those whose caps are at most `level`. */
static size_t close_flows(const struct flow_set *set, uint32_t channel, double level, double *room)
{
    size_t closed = 0;
    for (size_t i = 0; i < set->count; i++) {
        struct flow *flow = &set->flows[i];
        bool capped = channel == ENGINE_NONE;
        if (flow->fair == OPEN && (capped ? flow->cap <= level : crosses(set, flow, channel))) {
            close_flow(set, flow, capped ? flow->cap : level, room);
            closed++;
        }
    }
    return closed;
}

static void find_fair_rates(struct flow_set *set)
{
    double room[ENGINE_MOST_CHANNELS];
    for (uint32_t c = 0; c < set->channel_count; c++) {
        room[c] = set->unheld[c];
    }
    for (size_t i = 0; i < set->count; i++) {
        set->flows[i].fair = OPEN;
    }
    double level = DBL_MIN; /* never 0, whatever the weights */
    for (size_t open = set->count; open > 0;) {
        double next;
        uint32_t tightest = find_tightest(set, room, &next);
        level = MAX(level, next);
        size_t closed = close_flows(set, ENGINE_NONE, level, room);
        open -= closed > 0 ? closed : close_flows(set, tightest, level, room);
    }
}

void flow_refresh(struct flow_set *set, int64_t now_ns)
{
    if (set->holders_changed) {
        find_unheld(set);
    }
    find_fair_rates(set);
    set->next_ns = INT64_MAX;
    for (size_t i = 0; i < set->count; i++) {
        struct flow *flow = &set->flows[i];
        if (flow->fair != flow->rate) {
            /* Give the flow its new rate from now on. */
            flow->left -= flow->rate * (double)(now_ns - flow->since_ns);
            flow->since_ns = now_ns;
            flow->rate = flow->fair;
            double wait_ns = ceil(MAX(flow->left - FLOW_SLACK * flow->amount, 0.0) / flow->rate);
            flow->end_ns = wait_ns < (double)(ENGINE_LAST_NS - now_ns) ? now_ns + (int64_t)wait_ns
                                                                       : ENGINE_LAST_NS + 1;
        }
        if (flow->end_ns < set->next_ns) {
            set->next_ns = flow->end_ns;
        }
    }
    set->changed = false;
}

void flow_end_due(struct flow_set *set, int64_t now_ns)
{
    size_t kept = 0;
    set->ended_count = 0;
    for (size_t i = 0; i < set->count; i++) {
        if (set->flows[i].end_ns <= now_ns) {
            set->ended[set->ended_count++] = set->flows[i].task;
        } else {
            set->flows[kept++] = set->flows[i];
        }
    }
    set->count = kept;
    set->next_ns = INT64_MAX; /* until the rates have been found */
    set->changed = true;
}

void flow_init(struct flow_set *set)
{
    *set = (struct flow_set){.next_ns = INT64_MAX, .holders_changed = true};
}

void flow_release(struct flow_set *set)
{
    free(set->routes);
    free(set->flows);
    free(set->ended);
    flow_init(set);
}
