#include "server/requests/router.h"

#include "core/array.h"

#include <stdlib.h>

static bool route_by_prefix(struct router *router, const struct requests *requests,
                            const struct stop_flag *stop, struct error *why)
{
    uint32_t *last = array_zeroed(requests->ids.count, sizeof *last, why); /* server + 1 */
    uint32_t *sent = array_zeroed(router->servers, sizeof *sent, why);
    bool ok = last != NULL && sent != NULL;
    for (size_t i = 0; ok && i < requests->count; i++) {
        const struct request *request = &requests->all[i];
        const uint32_t *chunks = request_chunks(requests, request);
        uint32_t server = 0;
        for (uint32_t s = 1; s < router->servers; s++) {
            server = sent[s] < sent[server] ? s : server;
        }
        for (uint32_t c = 0; c < request->chunks && last[chunks[c]] > 0; c++) {
            server = last[chunks[c]] - 1;
        }
        for (uint32_t c = 0; c < request->chunks; c++) {
            last[chunks[c]] = server + 1;
        }
        sent[server]++;
        router->server_of[i] = server;
        ok = stop_flag_check(stop, why);
    }
    free(last);
    free(sent);
    return ok;
}

bool router_init(struct router *router, const struct requests *requests, uint32_t servers,
                 bool by_prefix, const struct stop_flag *stop, struct error *why)
{
    size_t count = requests->count;
    *router = (struct router){.servers = servers, .count = count};
    router->server_of = array_zeroed(count, sizeof *router->server_of, why);
    router->indices = array_zeroed(count, sizeof *router->indices, why);
    if (router->server_of == NULL || router->indices == NULL) {
        return false;
    }
    if (by_prefix) {
        return route_by_prefix(router, requests, stop, why);
    }
    for (size_t i = 0; i < count; i++) {
        router->server_of[i] = (uint32_t)(i % servers);
    }
    return true;
}

void router_release(struct router *router)
{
    free(router->server_of);
    free(router->indices);
    *router = (struct router){.servers = 0};
}

uint32_t router_select(struct router *router, uint32_t server)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < router->count; i++) {
        if (router->server_of[i] == server) {
            router->indices[count++] = i;
        }
    }
    return count;
}
