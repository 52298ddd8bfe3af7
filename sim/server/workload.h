/* A workload: the requests that a server is asked to answer, and the limits of the server. */
#pragma once

#include "server/routing.h"
#include "server/server_engine.h"

#include <stdbool.h>
#include <stdint.h>

enum { WORKLOAD_PATH = 1024 };

struct workload {
    char path[WORKLOAD_PATH]; /* file of requests; "": there is no server */
    uint64_t content;         /* hash of the file */
    uint64_t limit;           /* requests that are read from it; 0: all */
    uint64_t hash_tokens;     /* tokens of a hash in it; 0: as its format says */
    double time_scale;        /* arrivals are this many times as far apart as in the file */
    double rate, burstiness;  /* drawn arrivals: requests a second, and 1 / the squared coefficient
                                of variation of the gaps; rate 0: the file's arrivals */
    int arrivals;             /* enum arrivals_kind */
    uint64_t warm;            /* requests that come first and count in no figure */
    uint64_t clients;         /* each sends a request when its last one has ended; 0: none */
    uint64_t replicas;        /* independent servers */
    int routing;              /* enum routing */
    double cache_threshold, balance_rel; /* of ROUTE_PREFIX_LOAD */
    uint64_t balance_abs;
    int timed;                          /* 0: no clock, one request after the other */
    struct server_engine engine;        /* the version that the user or the system names */
    int compile;                        /* enum server_compile */
    uint64_t sequences, batched_tokens; /* at most, in one step */
    uint64_t request_tokens;            /* most of a prompt and its output together; 0: no limit */
    uint64_t slo_ttft_ns, slo_tpot_ns;  /* objectives; 0: none */
};

/* Does the router see the load of servers? */
static inline bool workload_balances(const struct workload *workload)
{
    return workload->routing > ROUTE_PREFIX;
}
