/* Host memory that a server may have for prompts that begin alike. The servers of one machine share
 * its memory; the operating system and the engine need some; and an engine takes more than it is
 * asked for (predict/server/host_engine.h). */
#pragma once

#include "predict/decode/context.h"
#include "predict/scenario/point.h"
#include "predict/scenario/scenario.h"
#include "predict/server/serving_memory.h"
#include "predict/server/host_engine.h"

/* GiB that each server of the point has, by the run of it that `result` is: as stated, or what it takes
 * (predict/server/serving_memory.h), and by which ratio. */
uint64_t host_given_gib(const struct point *point, const struct result *result, double *ratio);

/* How many GiB of host memory a server's prefixes are worth.
 *
 * The size is the smallest whole number of GiB with which the engine starts and that saves HOST_ENOUGH of the
 * GPU time that all memory a server may have saves, by runs without a clock
 * (predict/server/serving_replay.h). One pass over the requests gives all sizes. Where the engine takes no
 * more for a larger number, the largest such is the size: it costs nothing. With sessions, or a router that
 * sees load, only a clock says what is found: then sizes are powers of two, and the hits of a run count. */

#define HOST_ENOUGH 0.95

/* A share of the prompts' tokens below which nothing is found. */
#define HOST_NOTHING 0.01

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

/* Find the size. `point` has a system with a host tier for prefixes; its runs answer for `context`. */
bool host_size_find(const struct point *point, const struct run_context *context,
                    struct host_size *out, struct error *why);

/* Let the size be so many GiB. */
void host_size_state(const struct point *point, uint64_t gib, struct host_size *out);

/* Do runs with a clock say what the point's server finds; and what a run found. */
bool host_is_clocked(const struct point *point);
struct host_found host_found_in(const struct result *result);
