/* Writing how requests fared into a result's columns. */
#ifndef SERVING_SERVING_OUTCOME_H
#define SERVING_SERVING_OUTCOME_H

#include "result/result.h"
#include "scenario/point.h"
#include "serve/prefix_replay.h"
#include "serve/server.h"

/* Of all servers. */
struct serving_totals {
    uint64_t blocks;         /* of KV, in HBM */
    uint64_t crossed_blocks; /* beside what steps fetch: loaded, saved, swapped */
    int64_t busy_ns, end_ns; /* the sum, and the last one's end */
    struct series series;    /* owned */
    struct trust trust;
    double basis[BASIS_COUNT]; /* shares of busy_ns */
    char trace_source[256];    /* what decode's hits rest on; "": on no trace */
    enum basis trace_basis;
};

/* What was asked, and what there is to find in it. */
void serving_write_requests(const struct point *point, const struct requests *requests,
                            const struct prefix_bound *bound, struct result *result);

/* Say so where HBM holds less than the pool asked for. */
void serving_note_pool(const struct setup *setup, const struct prefix_options *memory,
                       struct result *result);

/* What was found without a clock. */
void serving_write_found(const struct prefix_totals *found, struct result *result);

/* Times, rates and tokens found, with a clock. */
bool serving_write_times(const struct point *point, const struct requests *requests,
                         const struct served *served, const struct serving_totals *totals,
                         struct result *result, struct error *why);

#endif
