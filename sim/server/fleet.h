/* Several servers that share one time, and the clients in front of them.
 *
 * Requests are sent in order, at their arrival times or when a client has its last answer. Nothing
 * is sent before every server has begun all iterations that begin earlier, so that a router sees
 * the load of that moment (server_load()). Its step ends later than it begins; what ends with it is
 * known early, but counts only from then on.
 *
 *   server 0   |--step--|-----step-----|
 *   server 1      |------step------|--step--|
 *   sent              ^ both steps have begun: the next iterations wait
 *
 * At the same time requests are sent before iterations begin, and these begin in the order in which they
 * became due. A server alone has the same iterations as it would if it knew all requests beforehand. A later
 * turn of a session is sent when the turn before it has ended and its user has thought. A client has one
 * session after the other.
 *
 * A stream (requests/stream.h) ends when the last request that begins by itself is sent, or earlier, at
 * one of its looks: what the servers have then stays unanswered. Nobody knows how it would go on. */
#pragma once

#include "core/stop_flag.h"
#include "server/workload.h"
#include "server/server.h"

struct fleet {
    struct server **servers;
    uint32_t server_count;
    struct balancer *balancer;   /* which server gets a request; NULL: `server_of` says */
    const uint32_t *server_of;   /* [requests->count] the same; NULL: there is one server */
    const struct served *served; /* [requests->count] the servers'; needed for sessions */
    const struct requests *requests;
    const uint32_t *indices; /* [count] of the requests to send, in order; NULL: all of them */
    uint32_t count;
    bool is_stream;
    /* Of a stream, may be NULL: asked at each of its looks, `looks` before the end: is it enough? */
    bool (*look)(uint32_t looks, int64_t now_ns, bool *enough, void *context, struct error *why);
    void *context;
    uint32_t clients; /* each sends a request when its last one has ended; 0: requests are sent when
                         they arrive */
    uint64_t warm;    /* requests of all that come first and warm the servers: */
    uint32_t warm_clients; /* so many clients send them, and the others begin behind; 0: all do */
    const struct stop_flag *stop; /* ends the run once it is raised; NULL: nothing does */
};

/* Send all requests and run the servers until they end. `*end_ns`: of a stream, the time of its end. */
bool fleet_run(const struct fleet *fleet, int64_t *end_ns, struct error *why);
