/* A prefix cache in a list of tiers: KV blocks of ended requests, reused by requests whose prompts
 * begin alike.
 *
 * W. Kwon et al., "Efficient Memory Management for Large Language Model Serving with PagedAttention", 2023,
 * and vLLM's prefix caching. Blocks have a few tokens each; a block's hash covers its tokens and all tokens
 * before it. A prompt's blocks are looked up from its beginning, on the GPU (tier 0), then in the tiers below
 * it, up to the first block that none has. Blocks below are copied in; the remaining tokens are computed. At
 * least one token is always computed, because only that yields the first new token.
 *
 *     tier 0  GPU      │ saves: when a request ends, a block fills, or the GPU evicts it
 *     tier 1  host     ▼
 *                      │ saves: when a block has arrived in the tier above, or is evicted there
 *     tier 2  disk     ▼
 *
 * A block that a request finds counts as used in every tier that has it, but for `used_by_loads`. A tier
 * that `takes_loads` keeps what is loaded through it from below, if it has room or can evict for it. A
 * block that is offered to a tier that has it is offered to the tier below, too, if that takes all that
 * arrives: with LRU, each such tier holds what was used last, and the larger one all that the smaller has.
 *
 * Blocks saved to a tier cross a way. If that takes time (`saves_wait`), a block can be used there only after
 * it has arrived, and the GPU keeps it until then, or may give its room away before (`frees_early`); the
 * caller says when (prefix_saved()). A tier below the GPU may evict a block that is still being copied; the
 * copy then ends as if it was between buffers. With `pins` it keeps such a block from the beginning of a copy
 * to its end, and a block for which there is no room beside the pinned ones is not saved.
 *
 * A block that is being loaded is known on the GPU at once, so that nobody loads it a second time.
 * Every request that uses it waits for that load (prefix_load()).
 *
 * The cache knows no time: a server calls it at its events, prefix_replay() without a clock. */
#pragma once

#include "decode/mechanisms.h"
#include "server/prefix/block_pool.h"
#include "server/requests/requests.h"

enum { PREFIX_MOST_TIERS = TIER_COUNT };

/* A tier below the GPU. */
struct prefix_tier {
    uint64_t blocks;
    const struct policy_kind *policy; /* NULL: it never evicts */
    const double *values;             /* of the policy; NULL: its defaults */
    bool takes_loads;                 /* keeps what is loaded through it from tiers below */
    bool used_by_loads;               /* only a block that is loaded from it counts as used */
    uint32_t least_asked;             /* a block is saved once this many requests held it; 0: 1 */
    enum prefix_write write; /* when blocks of the tier above are saved here; below tier 1 `finish`
                                and `fill` both mean: when they have arrived there. Only a tier
                                with LRU hands on what it evicts */
};

/* A tier that several caches share, each for one of several servers. */
struct prefix_pool;

struct prefix_options {
    uint32_t block_tokens; /* divides the tokens of a chunk, or is a multiple of them */
    bool gpu_keeps;        /* the GPU retains blocks of ended requests */
    uint64_t gpu_blocks;
    /* A request finds only what those of its rank left, in all tiers, and has to fit in the rank's part of the
     * GPU's blocks. All ranks together run out of blocks, not one. 0: 1. */
    uint32_t ranks;
    struct prefix_tier lower[PREFIX_MOST_TIERS - 1]; /* [lower_count] tiers 1, 2, ... */
    uint32_t lower_count;
    struct prefix_pool *pool; /* the last of these tiers, which other caches share; borrowed, and
                                 outlives the cache. NULL: it is this cache's own */
    uint32_t unit_blocks;     /* blocks saved and found below the GPU together, counted from a
                                prompt's beginning; 0: 1 */
    bool saves_wait;          /* saves take time: prefix_saved() says when they are done */
    bool recycles;            /* numbers of blocks that are nowhere are given anew. Does nothing if
                                the policy of a lower tier remembers blocks that it has evicted */
    bool prompts_only; /* blocks of answers are saved only when they are part of a later prompt */
    bool frees_early;  /* blocks of the GPU become free before they are saved */
    bool pins;         /* lower tiers keep blocks that are being copied; not every policy can */
    uint64_t seed;
    uint32_t least_blocks; /* fewer blocks are not loaded from the tiers below tier 1 together */
    bool cheaper;          /* a prefix is loaded only as far as that is faster than computing it: by
                              the times below */
    /* Time of computing a prompt's first blocks, by their number, borrowed (NULL: unknown); of
     * loading one block from a tier, and what a load from there takes besides. */
    const double *compute_ns;
    double load_ns[PREFIX_MOST_TIERS], first_ns[PREFIX_MOST_TIERS];
    /* Only the requests with this server here begin: other requests need no room. NULL: all may. */
    const uint32_t *server_of; /* [requests->count], borrowed */
    uint32_t server;
    const struct stop_flag *stop; /* ends a replay once it is raised; NULL: nothing does */
};

/* Of a tier below the GPU, in blocks. */
struct prefix_counts {
    uint64_t loaded; /* to the GPU */
    uint64_t loads;  /* loads, not blocks: requests that began with something to load from here */
    uint64_t saved;  /* from the tier above, begun */
    uint64_t taken;  /* the last of `saved` whose room above was given away before it ended */
};

/* The most tokens that a request may keep. */
static inline uint64_t prefix_longest(const struct prefix_options *options)
{
    return options->gpu_blocks / (options->ranks > 0 ? options->ranks : 1) * options->block_tokens;
}

/* Where a request's tokens are when it begins; they add up to all of them. Small, because there is
 * one for each request of a run (REQUEST_MOST_TOKENS). */
struct prefix_match {
    uint32_t found[PREFIX_MOST_TIERS]; /* by the nearest tier that has them */
    uint32_t compute_tokens;
};

/* A pool for caches with these options, of which `pool` and `server` do not matter here. A block that one
 * cache saves there is found by all, once it has arrived. `requests` must outlive it. NULL on failure. */
struct prefix_pool *prefix_pool_create(const struct prefix_options *options,
                                       const struct requests *requests, struct error *why);
void prefix_pool_destroy(struct prefix_pool *pool); /* after its caches; NULL is fine */

struct prefix_cache;

/* `requests` must outlive the cache. NULL on failure. */
struct prefix_cache *prefix_cache_create(const struct prefix_options *options,
                                         const struct requests *requests, struct error *why);
void prefix_cache_destroy(struct prefix_cache *cache); /* NULL is fine */

/* What requests do before prefix_now() takes no time: what they save is there at once, and what they
 * move does not count. A cache is `now` when it is created. */
void prefix_past(struct prefix_cache *cache);
void prefix_now(struct prefix_cache *cache);

/* Begin request `index` with its first `tokens` tokens (its prompt, and the tokens generated before
 * it was preempted): look them up, refer to the blocks on the GPU, and take blocks for those on the
 * host and for the first `chunk` of the remaining tokens.
 *
 * Returns false and changes nothing if the GPU has no room now for all `tokens`; that room is checked but not
 * reserved. A request that began with room for its first chunk only would be preempted in the middle of its
 * prompt, again and again (vLLM's scheduler_reserve_full_isl, on by default). */
bool prefix_begin(struct prefix_cache *cache, size_t index, uint64_t tokens, uint64_t chunk,
                  struct prefix_match *match);

/* The KV of the first `tokens` tokens is computed: others can find their full blocks. */
void prefix_fill(struct prefix_cache *cache, size_t index, uint64_t tokens);

/* Take blocks until the request has room for `tokens` tokens in all. Returns false and changes
 * nothing if there is no room. */
bool prefix_grow(struct prefix_cache *cache, size_t index, uint64_t tokens);

/* A request has computed `tokens` tokens: so many more neither fill a block nor need another. */
uint64_t prefix_quiet_tokens(const struct prefix_cache *cache, size_t index, uint64_t tokens);

/* The oldest `count` pending saves to a tier are done. */
void prefix_saved(struct prefix_cache *cache, uint32_t tier, uint64_t count);

/* The oldest `count` blocks of pending loads from a tier have arrived. Without `pins` this does nothing. */
void prefix_loaded(struct prefix_cache *cache, uint32_t tier, uint64_t count);

/* The request ends, or is preempted (`done` false; then nothing is saved). Its blocks
 * lose their reference, the last block first, so that beginnings are retained longest. */
void prefix_end(struct prefix_cache *cache, size_t index, bool done);

struct prefix_counts prefix_counts(const struct prefix_cache *cache, uint32_t tier);
uint64_t prefix_saves(const struct prefix_cache *cache); /* `saved` of all tiers */

/* Blocks that could be taken now, and tokens of each. */
uint64_t prefix_room(const struct prefix_cache *cache);
uint32_t prefix_block_tokens(const struct prefix_cache *cache);
uint64_t prefix_cache_longest(const struct prefix_cache *cache); /* prefix_longest() */

/* Number of the load from a tier that the request's KV waits for, counted from 1 in the order in
 * which loads from there began; 0: none. That load may have ended already. */
uint64_t prefix_load(const struct prefix_cache *cache, size_t index, uint32_t tier);

/* Blocks that a request has on the GPU; and those of them that are full, so that others can find them. */
uint64_t prefix_held(const struct prefix_cache *cache, size_t index);
uint64_t prefix_shared(const struct prefix_cache *cache, size_t index);

/* The cache's numbers of blocks, for server_state.h. */
struct prefix_census {
    uint32_t count; /* of tiers */
    bool pins;      /* the option; without it `loading` is 0 */
    struct {
        struct block_census blocks;
        bool shared;      /* a pool's blocks, whichever cache saved them */
        uint64_t saving;  /* on their way here; 0 unless saves take time */
        uint64_t loading; /* on their way from here to the GPU */
        uint64_t held;    /* references of pending copies (of all caches, in a pool), and those of a
                             tier that never evicts */
    } of[PREFIX_MOST_TIERS];
};
struct prefix_census prefix_census(const struct prefix_cache *cache);

/* False if memory was out, or if a plug-in used as a tier's policy gave an invalid answer. */
bool prefix_check(const struct prefix_cache *cache, struct error *why);
