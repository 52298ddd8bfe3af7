/* Requests through a prefix cache without a clock: one after the other, each alone on the GPU. What
 * it finds is the bound that the trace itself sets: no queue, no two requests at once.
 */
#ifndef SERVE_PREFIX_REPLAY_H
#define SERVE_PREFIX_REPLAY_H

#include "serve/prefix_cache.h"

struct prefix_totals {
    uint64_t requests; /* replayed */
    uint64_t too_long; /* left out: longer than the GPU's blocks hold */
    uint64_t prompt_tokens;
    uint64_t gpu_tokens, host_tokens, compute_tokens; /* of them; they add up */
    struct prefix_counts blocks;
};

/* Replay the `count` requests `indices` on an empty cache and add what they find to `totals`. */
bool prefix_replay(const struct prefix_options *options, const struct requests *requests,
                   const uint32_t *indices, uint32_t count, struct prefix_totals *totals,
                   struct error *why);

/* Replay request `index` on a cache that nobody else uses; false, and nothing changed, where its
 * tokens are more than the GPU has room for. */
bool prefix_replay_one(struct prefix_cache *cache, const struct prefix_options *options,
                       size_t index, const struct request *request, struct prefix_match *match);

/* Add what a request found. */
void prefix_totals_add(struct prefix_totals *totals, const struct request *request,
                       const struct prefix_match *match);

/* What is there to find, with room for everything: chunks of prompts as the file hashes them, and
 * those that stand in a row from a prompt's beginning and came before. */
struct prefix_bound {
    uint64_t chunks, distinct, hits;                /* the last one of a prompt, cut short, too */
    uint64_t full_chunks, full_distinct, full_hits; /* whole ones alone */
};
bool prefix_bound(const struct requests *requests, struct prefix_bound *bound, struct error *why);

#endif
