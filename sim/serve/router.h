/* Which of several servers gets a request.
 *
 * Requests are routed before any server runs, in order of arrival: a router that looks at
 * beginnings knows what it has sent where, not what a server still holds.
 */
#ifndef SERVE_ROUTER_H
#define SERVE_ROUTER_H

#include "serve/requests.h"

#include <stdbool.h>

struct router {
    uint32_t servers;
    uint32_t *server_of; /* by request, owned */
    uint32_t *indices;   /* of one server's requests, owned */
    size_t count;        /* requests */
};

/* Round-robin; or to the server that was sent the longest beginning of the prompt, and of several,
 * or where nobody was, to the one with fewest requests. Released on failure too. */
bool router_init(struct router *router, const struct requests *requests, uint32_t servers,
                 bool by_prefix, struct error *why);
void router_release(struct router *router);

/* Have `indices` hold the requests of a server, in order of arrival. Returns how many. */
uint32_t router_select(struct router *router, uint32_t server);

#endif
