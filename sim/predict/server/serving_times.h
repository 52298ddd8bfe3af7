/* What a server's requests took, by its clock: the columns of times, rates and prefixes found. */
#pragma once

#include "predict/result/result.h"
#include "predict/scenario/point.h"
#include "server/prefix/prefix_replay.h"
#include "server/server.h"
#include "predict/server/serving_memory.h"

/* Totals of all servers. */
struct serving_totals {
    uint64_t blocks;         /* of KV, in HBM */
    uint64_t crossed_blocks; /* loaded, saved and swapped; without the fetches of steps */
    int64_t busy_ns, end_ns; /* sum over the servers; end of the last one */
    struct prefix_moved moved[PREFIX_MOST_TIERS]; /* by tier of serving_tiers() */
    struct series series;                         /* owned */
    struct gaps gaps;                             /* between tokens */
    struct trust trust;
    double basis[BASIS_COUNT]; /* shares of busy_ns */
    double resident_share;     /* of the KV, over the time of decode steps */
    char trace_source[256];    /* the trace that decode's hits depend on; "": none */
    enum basis trace_basis;
};

bool serving_write_times(const struct point *point, const struct serving_memory *memory,
                         const struct requests *requests, const struct served *served,
                         const struct serving_totals *totals, struct result *result,
                         struct error *why);
