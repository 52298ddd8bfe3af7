/* Replay of requests through a prefix cache without a clock: one after the other, each alone on the
 * GPU. Its hits depend on the trace and the tiers alone, not on queues or concurrent requests. */
#pragma once

#include "core/error.h"
#include "server/prefix/prefix_cache.h"

/* Of a tier below the GPU, in blocks. */
struct prefix_moved {
    uint64_t loaded, saved; /* to the GPU, from the tier above */
    uint64_t held;          /* at the end */
};

struct prefix_totals {
    uint64_t requests; /* replayed */
    uint64_t too_long; /* left out: longer than the GPU's blocks hold */
    uint64_t prompt_tokens;
    uint64_t found[PREFIX_MOST_TIERS]; /* tokens, by tier; with compute_tokens they add up to
                                          prompt_tokens */
    uint64_t compute_tokens;
    struct prefix_moved moved[PREFIX_MOST_TIERS];
    double worth_ns; /* time of computing what lower tiers found, less that of loading it */
};

/* Replay the requests of so many servers from `first` on, in their order, each on the cache of its server,
 * empty at first, and add the result. If `shared`, the last tier of `options` is a pool of all of them. */
bool prefix_replay(const struct prefix_options *options, const struct requests *requests,
                   const uint32_t *server_of, uint32_t first, uint32_t servers, bool shared,
                   struct prefix_totals *totals, struct error *why);

/* Replay request `index` on a cache that no other request is using. Returns false and changes
 * nothing if the GPU has no room for its tokens. */
bool prefix_replay_one(struct prefix_cache *cache, const struct prefix_options *options,
                       size_t index, const struct request *request, struct prefix_match *match);

/* Add what has moved in a cache so far, and what it holds; without what is in a pool, if `pool` is
 * false: that is what all caches see. */
void prefix_moved_add(struct prefix_moved moved[PREFIX_MOST_TIERS],
                      const struct prefix_cache *cache, bool pool);
