/* A prefix cache in one or two tiers: KV blocks of ended requests, reused by requests whose prompts
 * begin alike.
 *
 * W. Kwon et al., "Efficient Memory Management for Large Language Model Serving with
 * PagedAttention", 2023, and vLLM's prefix caching. Blocks have a few tokens each; a block's hash
 * covers its tokens and all tokens before it. A prompt's blocks are looked up from its beginning,
 * on the GPU, then in host memory, up to the first block that neither has. Blocks on the host are
 * copied in; the remaining tokens are computed. At least one token is always computed, because only
 * that yields the first new token.
 *
 * Blocks saved to the host cross a link. If that takes time (`saves_wait`), a block on the host can
 * be used only after it has arrived, and the GPU keeps it until then; the caller says when
 * (prefix_saved()). The host may evict a block that is still being copied; the copy then ends as if
 * it went to a buffer. With `pins` it keeps such a block from the beginning of a copy to its end,
 * and a block for which there is no room beside the pinned ones is not saved.
 *
 * A block that is being loaded is known on the GPU at once, so that nobody loads it a second time.
 * Every request that uses it waits for that load (prefix_load()).
 *
 * The cache knows no time: a server calls it at its events, prefix_replay() without a clock.
 */
#ifndef SERVE_PREFIX_CACHE_H
#define SERVE_PREFIX_CACHE_H

#include "decode/mechanisms.h"
#include "serve/prefix/block_pool.h"
#include "serve/requests/requests.h"

struct prefix_options {
    uint32_t block_tokens; /* divides the tokens of a chunk, or is a multiple of them */
    bool gpu_keeps;        /* the GPU retains blocks of ended requests */
    bool has_host;         /* there is a second tier */
    uint64_t gpu_blocks, host_blocks;
    uint32_t unit_blocks;    /* blocks saved and found on the host together, counted from a
                                prompt's beginning; 0: 1 */
    uint32_t least_asked;    /* a block is saved once this many requests held it; 0: 1 */
    bool saves_wait;         /* saves take time: prefix_saved() says when they are done */
    bool recycles;           /* numbers of blocks that nobody can find again are given anew. Then
                                prefix_id() is for requests that have not ended and, without a
                                host, for blocks that hashes cover. Does nothing if the host's
                                policy remembers blocks that it has evicted */
    bool pins;               /* the host keeps blocks that are being copied; not every policy can */
    enum prefix_write write; /* when blocks are saved to the host */
    const struct policy_kind *host_policy; /* NULL: the host never evicts */
    const double *host_values;             /* NULL: its defaults */
    uint64_t seed;
    /* Only the requests with this server here begin: other requests need no room. NULL: all may. */
    const uint32_t *server_of; /* [requests->count], borrowed */
    uint32_t server;
};

/* In blocks. */
struct prefix_counts {
    uint64_t loaded;  /* host to GPU */
    uint64_t loads;   /* loads, not blocks: requests that began with something to load */
    uint64_t saved;   /* GPU to host, begun */
    uint64_t evicted; /* blocks of `saved` that the GPU had evicted before */
};

/* Where a request's tokens are when it begins; they add up to all of them. Small, because there is
 * one for each request of a run (REQUEST_MOST_TOKENS). */
struct prefix_match {
    uint32_t gpu_tokens, host_tokens, compute_tokens;
};

struct prefix_cache;

/* `requests` must outlive the cache. NULL on failure. */
struct prefix_cache *prefix_cache_create(const struct prefix_options *options,
                                         const struct requests *requests, struct error *why);
void prefix_cache_destroy(struct prefix_cache *cache); /* NULL is fine */

/* Begin request `index` with its first `tokens` tokens (its prompt, and the tokens generated before
 * it was preempted): look them up, refer to the blocks on the GPU, and take blocks for those on the
 * host and for the first `chunk` of the remaining tokens.
 *
 * Returns false and changes nothing if the GPU has no room now for all `tokens`; that room is
 * checked but not reserved. A request that began with room for its first chunk only would be
 * preempted in the middle of its prompt, again and again (vLLM's scheduler_reserve_full_isl, on by
 * default). */
bool prefix_begin(struct prefix_cache *cache, size_t index, uint64_t tokens, uint64_t chunk,
                  struct prefix_match *match);

/* The KV of the first `tokens` tokens is computed: others can find their full blocks. */
void prefix_fill(struct prefix_cache *cache, size_t index, uint64_t tokens);

/* Take blocks until the request has room for `tokens` tokens in all. Returns false and changes
 * nothing if there is no room. */
bool prefix_grow(struct prefix_cache *cache, size_t index, uint64_t tokens);

/* Begin request `index` again with its first `tokens` tokens. The KV of the first `kept` was kept
 * elsewhere; take blocks for them and for `chunk` more tokens.
 *   missing  out: how many of the `kept` tokens the GPU lacks; they follow those that it has
 * Returns false and changes nothing if there is no room for all `tokens` now, as in
 * prefix_begin(). */
bool prefix_restore(struct prefix_cache *cache, size_t index, uint64_t tokens, uint64_t kept,
                    uint64_t chunk, uint64_t *missing);

/* The oldest `count` pending saves are done. */
void prefix_saved(struct prefix_cache *cache, uint64_t count);

/* The oldest `count` blocks of pending loads have arrived. Without `pins` this does nothing. */
void prefix_loaded(struct prefix_cache *cache, uint64_t count);

/* The request ends, or is preempted (`done` false; then nothing is offered to the host). Its blocks
 * lose their reference, the last block first, so that beginnings are retained longest. */
void prefix_end(struct prefix_cache *cache, size_t index, bool done);

struct prefix_counts prefix_counts(const struct prefix_cache *cache);

/* Blocks that could be taken now, and tokens of each. */
uint64_t prefix_room(const struct prefix_cache *cache);
uint32_t prefix_block_tokens(const struct prefix_cache *cache);

/* Number of the load that the request's KV waits for, counted from 1 in the order in which loads
 * began; 0: none. That load may have ended already. */
uint64_t prefix_load(const struct prefix_cache *cache, size_t index);

/* Blocks that a request has on the GPU; and those of them that are full, so that others can find
 * them. */
uint64_t prefix_held(const struct prefix_cache *cache, size_t index);
uint64_t prefix_shared(const struct prefix_cache *cache, size_t index);

/* The cache's numbers of blocks, for conservation.h. */
struct prefix_census {
    struct block_census gpu, host; /* host: all 0 without one */
    uint64_t saving;               /* on their way to the host; 0 unless saves take time */
    bool pins;                     /* the option; without it `loading` is 0 */
    uint64_t loading;              /* on their way to the GPU */
    uint64_t held_on_gpu;          /* references of pending copies */
    uint64_t held_on_host;         /* likewise, and those of a host that never evicts */
};
struct prefix_census prefix_census(const struct prefix_cache *cache);

/* A block's number depends on the tokens it holds. Numbers are below prefix_ids(); prefix_id() is
 * that of block `block` of request `index`, which has begun. */
uint32_t prefix_ids(const struct prefix_cache *cache);
uint32_t prefix_id(const struct prefix_cache *cache, size_t index, uint64_t block);

/* False if memory was out, or if a plug-in used as the host's policy gave an invalid answer. */
bool prefix_check(const struct prefix_cache *cache, struct error *why);

#endif
