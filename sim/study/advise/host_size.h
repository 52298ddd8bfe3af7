/* How many GiB of host memory a server's prefixes are worth.
 *
 * The size is the smallest whole number of GiB with which the engine starts and that saves
 * HOST_ENOUGH of the GPU time that all memory a server may have saves, by runs without a clock (predict/server/host_worth.h). One pass over the
 * requests gives all sizes. Where the engine takes no more for a larger number, the largest such is
 * the size: it costs nothing. With sessions, or a router that sees load, only a clock says what is
 * found: then sizes are powers of two, and the hits of a run count.
 */
#pragma once

#include "predict/decode/context.h"
#include "predict/scenario/point.h"
#include "server/pools/host_engine.h"

#define HOST_ENOUGH 0.95

/* What a size finds, as shares of all prompt tokens. */
struct host_found {
    double gpu, host;
    double saves_s; /* GPU time of all requests; NaN: only a clock was asked */
};

struct host_size {
    const struct host_engine *engine; /* NULL: its preset types no size */
    uint64_t limit; /* bytes that a server may have: as stated, or its part of the machine's */
    uint64_t gib, most_gib; /* the size, 0 if nothing is found; what it may be at most */
    double typed, takes; /* the number of the engine's flag for it, and bytes that it then takes */
    struct host_found found, most, endless; /* by the size, by `most_gib`, and by any memory */
};

/* `point` has a system with a host tier for prefixes. */
bool host_size_find(const struct point *point, const struct run_context *context,
                    struct host_size *out, struct error *why);

/* Make `gib` the size, and find what it does. */
bool host_size_set(const struct point *point, const struct run_context *context, uint64_t gib,
                   struct host_size *size, struct error *why);
