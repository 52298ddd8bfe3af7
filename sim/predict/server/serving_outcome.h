/* A server's requests, and the prefixes that were found in them, as columns of a result. */
#pragma once

#include "predict/result/result.h"
#include "predict/scenario/point.h"
#include "server/prefix/prefix_replay.h"
#include "server/server.h"
#include "predict/server/serving_memory.h"

/* The requests, and the prefixes that could be found in them. */
void serving_write_requests(const struct point *point, const struct requests *requests,
                            struct result *result);

/* The server refused so many requests because of their length. Before the functions below, which
 * add those that it has no memory for. */
void serving_write_refused(const struct point *point, size_t refused, struct result *result);

/* Of these requests, so many are longer than the server's memory. */
void serving_add_left_out(uint64_t too_long, struct result *result);

/* Prefixes that were found in each tier, by its number in serving_tiers(), and what they take. */
void serving_write_prefixes(const struct point *point, const struct serving_memory *memory,
                            const uint64_t found[PREFIX_MOST_TIERS], uint64_t computed,
                            const struct prefix_moved moved[PREFIX_MOST_TIERS],
                            struct result *result);

/* Prefixes found without a clock; and that the run is done. */
bool serving_write_found(const struct point *point, const struct serving_memory *memory,
                         const struct prefix_totals *found, struct result *result,
                         struct error *why);
