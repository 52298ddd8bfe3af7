/* The router: which of several servers gets a request.
 *
 * Requests are routed before any server runs, in order of arrival. A router by prefix therefore
 * knows which beginnings it sent to each server, not which ones a server still holds.
 */
#pragma once

#include "server/requests/requests.h"

#include <stdbool.h>

struct router {
    uint32_t servers;
    uint32_t *server_of; /* [count] by request, owned */
    uint32_t *indices;   /* [count] the requests of one server, owned */
    size_t count;        /* requests */
};

/* Route all requests: round-robin; or by prefix, to the server that was last sent the longest known
 * beginning of the prompt, or, if none is known, to a server with fewest requests. The caller
 * releases the router, on failure too, such as once `stop` (or NULL) is raised. */
bool router_init(struct router *router, const struct requests *requests, uint32_t servers,
                 bool by_prefix, const struct stop_flag *stop, struct error *why);
void router_release(struct router *router);

/* Set `indices` to the requests of a server, in order of arrival. Returns their number. */
uint32_t router_select(struct router *router, uint32_t server);
