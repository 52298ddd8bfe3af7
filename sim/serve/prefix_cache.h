/* A prefix cache in one or two tiers: KV blocks of requests that ended, found again by what stands
 * before and in them.
 *
 * W. Kwon et al., "Efficient Memory Management for Large Language Model Serving with
 * PagedAttention", 2023, and vLLM's prefix caching: blocks of a few tokens, a hash chained from
 * block to block; a prompt's blocks are looked up from its beginning, on the GPU, then in host
 * memory, up to the first that neither has. At least one token is always computed: nothing else
 * gives the first new token. What the host has is copied in; what nobody has is computed.
 *
 * What is saved to the host crosses a link. Where that takes time (`saves_wait`), a block is no use
 * there before it arrived, and the GPU keeps it until then; the caller says when (prefix_saved()).
 * The host may evict what is being copied: it is taken to arrive all the same, as through a buffer
 * between. Where blocks are pinned (`pins`) it does not, from the beginning of a copy to its end,
 * and what finds no room beside them is not saved.
 *
 * What is being loaded is known on the GPU at once, so that nobody loads it again; who finds it
 * there waits for that load (prefix_load()), as who began it does.
 *
 * The cache knows no time: a server calls it when things happen, prefix_replay() without a clock.
 */
#ifndef SERVE_PREFIX_CACHE_H
#define SERVE_PREFIX_CACHE_H

#include "decode/mechanisms.h"
#include "serve/block_pool.h"
#include "serve/requests.h"

struct prefix_options {
    uint32_t block_tokens; /* divides a chunk's */
    bool gpu_keeps;        /* the GPU keeps blocks of requests that ended */
    bool has_host;         /* there is a second tier */
    uint64_t gpu_blocks, host_blocks;
    uint32_t unit_blocks;    /* saved and found on the host together, from a prompt's beginning on;
                                0: 1 */
    uint32_t least_asked;    /* saved once so many requests held a block; 0: 1 */
    bool saves_wait;         /* saves take time: prefix_saved() says when they are done */
    bool pins;               /* the host keeps what is being copied; needs a policy that can */
    enum prefix_write write; /* to the host */
    const struct policy_kind *host_policy; /* NULL: the host never evicts */
    const double *host_values;             /* NULL: its defaults */
    uint64_t seed;
};

/* In blocks. */
struct prefix_counts {
    uint64_t loaded;  /* host to GPU */
    uint64_t loads;   /* no blocks: requests that began with something to load */
    uint64_t saved;   /* GPU to host, begun */
    uint64_t evicted; /* of these: those that the GPU has let go already */
};

/* Of a request's tokens when it begins, adding up to them. */
struct prefix_match {
    uint64_t gpu_tokens, host_tokens, compute_tokens;
};

struct prefix_cache;

/* `requests` must outlive the cache. NULL on failure. */
struct prefix_cache *prefix_cache_create(const struct prefix_options *options,
                                         const struct requests *requests, struct error *why);
void prefix_cache_destroy(struct prefix_cache *cache); /* NULL is fine */

/* Begin request `index` with its first `tokens` tokens (its prompt, and what was generated before
 * it was put back): look them up, refer to what the GPU has, and take blocks for what the host has
 * and for the first `chunk` tokens of the rest. False, and nothing changed, where the GPU has no
 * room for all of them now; they are not reserved. One that began with room for its first chunk
 * alone would be put back in the middle of its prompt, again and again (vLLM's
 * scheduler_reserve_full_isl, on by default). */
bool prefix_begin(struct prefix_cache *cache, size_t index, uint64_t tokens, uint64_t chunk,
                  struct prefix_match *match);

/* The first `tokens` tokens have their KV now: their full blocks can be found by others. */
void prefix_fill(struct prefix_cache *cache, size_t index, uint64_t tokens);

/* Make room for `tokens` tokens in all; false, and nothing changed, where there is none. */
bool prefix_grow(struct prefix_cache *cache, size_t index, uint64_t tokens);

/* Begin request `index` again with its first `tokens` tokens, of which the KV of the first `kept`
 * was kept elsewhere, and take blocks for these and `chunk` tokens more. `*missing` are those of
 * the `kept` that the GPU has not, all behind those that it has. False, and nothing changed, where
 * there is no room for all `tokens` now, as in prefix_begin(). */
bool prefix_restore(struct prefix_cache *cache, size_t index, uint64_t tokens, uint64_t kept,
                    uint64_t chunk, uint64_t *missing);

/* The oldest `count` saves that are under way are done. */
void prefix_saved(struct prefix_cache *cache, uint64_t count);

/* The oldest `count` blocks that are being loaded have come (prefix_counts() counts them when they
 * begin); nothing, where they are not pinned. */
void prefix_loaded(struct prefix_cache *cache, uint64_t count);

/* The request ends, or is put back (`done` false, and nothing is offered to the host for it): its
 * blocks lose their reference, the last ones first, so that beginnings stay longest. */
void prefix_end(struct prefix_cache *cache, size_t index, bool done);

struct prefix_counts prefix_counts(const struct prefix_cache *cache);

/* Blocks that could be taken now, and tokens of each. */
uint64_t prefix_room(const struct prefix_cache *cache);
uint32_t prefix_block_tokens(const struct prefix_cache *cache);

/* Number of the load, from 1 on in the order in which they began, that the KV of a request which
 * began waits for; 0: none. It can be one that has ended. */
uint64_t prefix_load(const struct prefix_cache *cache, size_t index);

/* Blocks that a request has on the GPU, and of these the full ones that others can find. */
uint64_t prefix_held(const struct prefix_cache *cache, size_t index);
uint64_t prefix_shared(const struct prefix_cache *cache, size_t index);

/* What the cache has on its books. */
struct prefix_census {
    struct block_census gpu, host; /* host: all 0 without one */
    uint64_t saving;               /* blocks on their way to the host, where that takes time */
    bool pins;                     /* what is being copied, so that it knows of loads, too: */
    uint64_t loading;              /* blocks on their way to the GPU */
    uint64_t held_on_gpu;          /* for copies under way */
    uint64_t held_on_host;         /* for these, and because the host never evicts */
};
struct prefix_census prefix_census(const struct prefix_cache *cache);

/* Blocks have numbers below prefix_ids(), by what they hold: the number of a request's block. */
uint32_t prefix_ids(const struct prefix_cache *cache);
uint32_t prefix_id(const struct prefix_cache *cache, size_t index, uint64_t block);

/* False where a plug-in run as the host's policy answered what cannot be. */
bool prefix_check(const struct prefix_cache *cache, struct error *why);

#endif
