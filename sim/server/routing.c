/* A row for each routing. */
#include "server/routing.h"

#include <stddef.h>

const char *const routing_names[ROUTINGS + 1] = {
    [ROUTE_ROUND_ROBIN] = "round-robin",       [ROUTE_PREFIX] = "prefix",
    [ROUTE_LEAST_REQUESTS] = "least-requests", [ROUTE_TWO_CHOICES] = "two-choices",
    [ROUTE_PREFIX_LOAD] = "prefix-load",       [ROUTE_SCORES] = "scores",
};

const struct routing_kind routings[ROUTINGS] = {
    [ROUTE_ROUND_ROBIN] = {"to each server in turn", "all routers"},
    [ROUTE_PREFIX] = {"to the server that was last sent the longest part of its beginning",
                      "vLLM's production stack"},
    [ROUTE_LEAST_REQUESTS] = {"to the server with the fewest requests in flight",
                              "nginx's least_conn"},
    [ROUTE_TWO_CHOICES] = {"to the less loaded of two servers drawn at random",
                           "power_of_two of SGLang and vLLM"},
    [ROUTE_PREFIX_LOAD] = {"where most of its beginning was sent, unless loads differ much; the "
                           "keys cache_threshold, balance_abs_threshold and balance_rel_threshold "
                           "say how much",
                           "cache_aware of SGLang and vLLM"},
    [ROUTE_SCORES] = {"to the highest sum of known beginning, short queue and free memory",
                      "llm-d's default scorers"},
};
