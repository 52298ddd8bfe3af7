/* Flows: units that move over shared channels, at max-min fair rates.
 *
 * Rates are found by progressive filling (D. Bertsekas, R. Gallager, "Data Networks", 2nd ed.,
 * 6.5.2): all rates rise together; a flow stops rising at its cap, or when a channel that it
 * crosses is full. So every flow moves at its cap, or crosses a full channel on which no flow is
 * faster. A unit of a flow takes `weight` units of a channel.
 *
 * Withheld amounts are taken off a channel before it is shared. At least FLOW_FLOOR of its capacity
 * is always left, so that every flow keeps moving.
 *
 * Rates depend only on the set of flows and holders and are found anew only when it has changed; a flow whose
 * rate stays keeps its exact end. It ends at the first whole nanosecond at which it has moved all but
 * FLOW_SLACK of its amount, lest rounding errors cost a nanosecond.
 *
 * Beginning a flow never allocates: make room first. */
#pragma once

#include <stdint.h>

#include "core/error.h"
#include "core/engine/engine.h"

#define FLOW_FLOOR 1e-6
#define FLOW_SLACK 1e-13

/* A route's uses, by kind. */
struct flow_route {
    uint32_t crossing_count, holding_count;
    uint32_t holders; /* tasks on this route in service: each withholds what the route says */
    uint32_t crossing[ENGINE_MOST_USES], holding[ENGINE_MOST_USES]; /* channels */
    double weight[ENGINE_MOST_USES]; /* of each crossing: channel units for a unit moved, or */
    bool at_cap[ENGINE_MOST_USES];   /* for all that the flow moves in a nanosecond at its cap */
    double withheld[ENGINE_MOST_USES];
};

struct flow {
    uint32_t task, route;            /* route may be ENGINE_NONE: its cap is its rate */
    double cap, amount;              /* units a nanosecond, units */
    double left;                     /* units left to move at since_ns */
    double rate;                     /* since since_ns */
    double fair;                     /* scratch: the rate being found */
    int64_t since_ns, end_ns;        /* end_ns: when it ends if no rate changes */
    double weight[ENGINE_MOST_USES]; /* of each crossing: channel units for a unit moved */
};

struct flow_set {
    double channel_capacity[ENGINE_MOST_CHANNELS]; /* units a nanosecond */
    double unheld[ENGINE_MOST_CHANNELS];           /* the capacity that is not withheld */
    uint32_t channel_count;
    struct flow_route *routes; /* owned */
    size_t route_count, route_capacity;
    struct flow *flows; /* owned; in the order in which they began */
    size_t count, capacity;
    uint32_t *ended; /* owned; tasks whose flows flow_end_due() took out */
    size_t ended_count, ended_capacity;
    int64_t next_ns; /* when the next flow ends, if nothing changes; INT64_MAX: none */
    bool changed;    /* rates must be found before time goes on */
    bool holders_changed;
};

/* As engine_channel_add() and engine_route_add(). */
uint32_t flow_channel_add(struct flow_set *set, double capacity);
uint32_t flow_route_add(struct flow_set *set, const struct engine_route *route, struct error *why);

/* Make room for `needed` flows in all. */
bool flow_reserve(struct flow_set *set, size_t needed, struct error *why);

/* A task on this route begins service (1), or ends it (-1): it withholds what the route says meanwhile. */
void flow_hold(struct flow_set *set, uint32_t route, int change);

/* Begin to move `amount` units for `task`; flow_reserve() has made room. */
void flow_begin(struct flow_set *set, uint32_t task, uint32_t route, double amount, double cap,
                int64_t now_ns);

/* Find the rates anew, and with them the ends, at now_ns. */
void flow_refresh(struct flow_set *set, int64_t now_ns);

/* Move the tasks of flows that have ended by now_ns into `ended`, in the order in which they began. */
void flow_end_due(struct flow_set *set, int64_t now_ns);

/* Init makes an empty set; release frees all memory, and leaves one. */
void flow_init(struct flow_set *set);
void flow_release(struct flow_set *set);
