/* How a router chooses among servers.
 *
 * The first two are decided before any server runs (requests/router.h), the others by the load of
 * the moment (balancer.h).
 */
#pragma once

enum routing {
    ROUTE_ROUND_ROBIN,
    ROUTE_PREFIX,
    ROUTE_LEAST_REQUESTS,
    ROUTE_TWO_CHOICES,
    ROUTE_PREFIX_LOAD,
    ROUTE_SCORES,
    ROUTINGS
};
extern const char *const routing_names[ROUTINGS + 1]; /* ends with NULL */

struct routing_kind {
    const char *summary; /* "a request goes ..." */
    const char *origin;  /* the program that routes so */
};
extern const struct routing_kind routings[ROUTINGS];
