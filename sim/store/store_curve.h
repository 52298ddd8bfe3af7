/* Miss curves in the results file: a row of `curves` each, their points in `curve_points`. */
#ifndef STORE_STORE_CURVE_H
#define STORE_STORE_CURVE_H

#include "store/store.h"

#include <stdint.h>

/* All up to `head` but `source` says which curve it is: the hash of these is its name. Negative
 * numbers are null. */
struct store_curve {
    const char *source;     /* trace or stream, as the user named it */
    char source_hash[17];   /* of what it holds, 16 hex digits */
    uint32_t blocks;        /* that there are */
    int64_t unit_tokens;    /* of a block; null for a stream of ids */
    double selection;       /* null for a stream of ids */
    const char *step_order; /* batch or sequential */
    uint32_t warmup;        /* steps */
    const char *policy;
    uint64_t policy_content; /* hash of one from outside; else 0 */
    const char *parameters;  /* a JSON object: those that differ from their defaults */
    int64_t layer, head;     /* null: of all */
    uint64_t accesses;
    int64_t knee;          /* a size; null: the curve has none */
    const uint32_t *sizes; /* [count] */
    const uint64_t *misses;
    uint32_t count;
};

/* Put curves, each whole, in one transaction. One that is there already is replaced. */
bool store_put_curves(struct store *store, const struct store_curve *curves, uint32_t count,
                      struct error *why);

#endif
