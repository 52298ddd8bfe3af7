/* Miss curves in the results file: a row of `curves` for each, their points in `curve_points`. */
#ifndef STORE_STORE_CURVE_H
#define STORE_STORE_CURVE_H

#include "store/store.h"

#include <stdint.h>

/* The fields up to `head`, except `source`, identify a curve: their hash is its name. Negative
 * numbers become null. */
struct store_curve {
    const char *source;     /* trace or stream, as the user named it */
    char source_hash[17];   /* of its contents, 16 hex digits */
    uint32_t blocks;        /* number of different blocks */
    int64_t unit_tokens;    /* tokens of a block; null for a stream of ids */
    double selection;       /* null for a stream of ids */
    const char *step_order; /* batch or sequential */
    uint32_t warmup;        /* steps */
    const char *policy;
    const char *policy_title; /* what tables call it; not part of its identity */
    uint64_t policy_content;  /* hash of a plug-in's file; 0 for a built-in policy */
    const char *parameters;   /* a JSON object: those that differ from their defaults */
    int64_t layer, head;      /* null: all of them */
    uint64_t accesses;
    int64_t knee;          /* a size; null: the curve has none */
    const uint32_t *sizes; /* [count] */
    const uint64_t *misses;
    uint32_t count;
};

/* Put curves, each whole, in one transaction. A curve that is already stored is replaced. */
bool store_put_curves(struct store *store, const struct store_curve *curves, uint32_t count,
                      struct error *why);

#endif
