/* A workload: requests that servers are asked to answer, the limits of a server, and their router. */
#pragma once

#include "decode/error_band.h"
#include "server/requests/requests.h"
#include "server/server_engine.h"

/* How a router chooses: by the first two before any server runs, by the others from the moment's load. */
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
    const char *policy;  /* --policy of the routers of SGLang and vLLM; NULL: they have none such */
};
extern const struct routing_kind routings[ROUTINGS];

/* What stands before the scheduler. */
enum workload_api {
    API_HTTP, /* the engine's API process (struct server_path) */
    API_NONE, /* nothing: the program that asks holds the engine, as offline benchmarks do */
};
extern const char *const workload_apis[]; /* ends with NULL */

enum { WORKLOAD_PATH = 1024 };

struct workload {
    char path[WORKLOAD_PATH]; /* file of requests; "": there is no server */
    uint64_t content;         /* hash of the file */
    uint64_t seed;            /* of requests that are made up */
    uint64_t limit;           /* requests that are read from it; 0: all */
    uint64_t hash_tokens;     /* tokens of a hash in it; 0: as its format says */
    double time_scale;        /* arrivals are this many times as far apart as in the file */
    double rate, burstiness;  /* drawn arrivals: requests a second, and 1 / the squared coefficient
                                of variation of the gaps; rate 0: the file's arrivals */
    int arrivals;             /* enum arrivals_kind */
    uint64_t warm;            /* requests that come first and count in no figure */
    double warm_rate;         /* they come at this rate; 0: as the others */
    uint64_t warm_clients;    /* so many clients send them; 0: all */
    uint64_t clients;         /* each sends a request when its last one has ended; 0: none */
    uint64_t replicas;        /* independent servers */
    int routing;              /* enum routing */
    double cache_threshold, balance_rel; /* of ROUTE_PREFIX_LOAD */
    uint64_t balance_abs;
    int timed;                          /* 0: no clock, one request after the other */
    int api;                            /* enum workload_api */
    int compile;                        /* enum server_compile */
    uint64_t sequences, batched_tokens; /* at most, in one step */
    uint64_t graph_sequences;           /* at most, in a CUDA graph; 0: not stated */
    int overlap;                        /* of steps: 0 the engine's, 1 no, 2 yes */
    uint64_t request_tokens;            /* most of a prompt and its output together; 0: no limit */
    uint64_t slo_ttft_ns, slo_tpot_ns;  /* objectives; 0: none */
    double measured[BAND_FIGURE_COUNT]; /* in a run of this very server, as multiples of what was
                                           predicted for that run; 0: none */
};

/* Does the router see the load of servers? */
static inline bool workload_balances(const struct workload *workload)
{
    return workload->routing > ROUTE_PREFIX;
}

/* A router that knows no loads, but, in order of arrival, which beginnings it sent to each server. */
struct router {
    uint32_t servers;
    uint32_t *server_of; /* [count] by request, owned */
    uint32_t *indices;   /* [count] the requests of one server, owned */
    size_t count;        /* requests */
};

/* Route all requests: round-robin; or by prefix, to the server last sent the longest known beginning of the
 * prompt, else to one with fewest requests. The caller releases the router, on failure too. */
bool router_init(struct router *router, const struct requests *requests, uint32_t servers,
                 bool by_prefix, const struct stop_flag *stop, struct error *why);
void router_release(struct router *router);

/* Set `indices` to the requests of a server, in order of arrival. Returns their number. */
uint32_t router_select(struct router *router, uint32_t server);

/* A router that sees the load of the servers behind it (fleet.h): which one gets a request.
 *
 *   least-requests   fewest requests in flight; among equals the next in turn. nginx's least_conn.
 *   two-choices      the less loaded of two servers drawn at random (M. Mitzenmacher, "The Power of
 *                    Two Choices in Randomized Load Balancing", 2001); power_of_two of the routers
 *                    of SGLang and vLLM.
 *   prefix-load      cache_aware of SGLang's router, which is also vLLM's. If the most requests in
 *                    flight on a server exceed the fewest by more than `balance_abs` and by more
 *                    than `balance_rel` times, as least-requests. Else, if more than the share
 *                    `cache_threshold` of the prompt was sent to a server before, to the server
 *                    that was sent most of it. Else as least-requests. Of servers that were sent as
 *                    much it takes "any", which is the first of a hash table and does not look at
 *                    loads: all that begins alike goes to one server until `balance_abs` is reached
 *                    (vllm-project/router, src/policies/cache_aware.rs and src/tree.rs at 16917f4;
 *                    SGLang #2170 says so of its own benchmark)
 *   scores           llm-d's endpoint picker with its default scorers: the highest sum of 3 times
 *                    the share of the prompt that the server was sent before, 2 times its place
 *                    between the longest and the shortest queue (1: the shortest), and 2 times the
 *                    share of its KV memory that is free. Equals are drawn at random.
 *
 * Both of the last two know what they sent, not what a server still holds, and here they forget
 * nothing: real ones forget the oldest when their memory is full. Nothing is known of a prompt
 * without hashes. Real routers see loads of up to 50 ms ago. */
struct balancer;
struct server_load;

/* For these requests and so many servers, by the routing of `workload`. NULL on failure. */
struct balancer *balancer_create(const struct workload *workload, uint32_t servers,
                                 const struct requests *requests, uint64_t seed, struct error *why);
void balancer_destroy(struct balancer *balancer); /* NULL is fine */

/* Which server gets request `index`. loads: [servers] */
uint32_t balancer_choose(struct balancer *balancer, uint32_t index,
                         const struct server_load *loads);
