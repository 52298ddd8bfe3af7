/* How vLLM divides its KV pool among layers that keep different things.
 *
 * Layers that keep alike form one or several *groups* of as many layers; each group has a block
 * table of its own, and all groups draw blocks from one pool. So a block has the same bytes for
 * every group, and holds as many tokens as fit:
 *
 *   1. The page of a layer is its block: 16 tokens, or as many more as make it no smaller than a
 *      state, which is then padded to the page. Smaller pages get more tokens to the block.
 *   2. A group has as many layers as the rarest kind of layer, or as the most frequent one if that
 *      has less than 1.25 or 1.5 times as many; a last group that is not full is padded.
 *   3. A sequence takes blocks of each group: of full layers for all its tokens, of windows for
 *      what a window and the tokens under way reach, of states one, or two where states are kept at
 *      block boundaries for prefix caching ("align").
 *
 * A stage of a pipeline holds its layers of each group. GPUs that share the tokens of a sequence (`context`)
 * hold a block of each for as many times its tokens. Without the hybrid manager (`hybrid` off) layers with
 * windows are allocated as full ones. A model whose layers keep all tokens has one group, whatever their
 * bytes.
 *
 * vLLM 0.11 to 0.33: v1/core/kv_cache_utils.py, since 0.30 kv_cache_planning.py
 * (_get_kv_cache_groups_uniform_page_size), v1/kv_cache_interface.py (max_memory_usage_bytes),
 * platforms/interface.py (_align_hybrid_block_size). Compressed layers (DeepSeek-V4) are packed in
 * another way, which is not modelled. */
#pragma once

#include "model/model.h"

/* What a version of an engine does with groups of layers (engines/README.md). `block` 0: it has none. */
struct kv_group_rules {
    uint64_t block, latents, alignment; /* tokens of a block; in models with latents */
    uint64_t steps;                     /* that may be scheduled at once */
    double alike;                       /* counts of layers that give one group */
    bool states_full;                   /* a pool's tokens count states, too */
};

/* How it divides the memory into pools. `slots` 0: it does not. */
struct kv_pool_rules {
    double windows,
        states;     /* tokens of windows for each of full layers; bytes of states for others */
    uint64_t slots; /* of a request whose prefixes are cached */
};

struct kv_limits {
    uint64_t block;     /* tokens, of the engine */
    uint64_t latents;   /* tokens of a block of latents: the least that its kernels take */
    uint64_t context;   /* GPUs that share a sequence's tokens (decode context parallelism); >= 1 */
    uint64_t alignment; /* of a block of latents beside states, in tokens */
    uint64_t in_flight; /* tokens scheduled at a time whose windows are not yet freed */
    double alike;       /* kinds with counts less than this factor apart form equal groups */
    bool hybrid;        /* windows are freed */
    bool align;         /* states are kept at block boundaries */
    bool states_full;   /* logs: the size is concurrency times length, not blocks over groups */
};

/* What the rows of vLLM's versions do with `batched` tokens a step and prefix caching or not. */
struct kv_limits kv_limits_of(const struct kv_group_rules *groups, uint64_t batched, bool caches);

struct kv_group {
    enum attention_kind kind;
    bool index;           /* keys of the indexer */
    uint32_t layers;      /* of this kind */
    uint32_t groups;      /* into which they are divided */
    uint32_t padding;     /* layers that the last group lacks */
    uint32_t window;      /* tokens */
    uint64_t token_bytes; /* of a layer */
    uint64_t state_bytes; /* of a layer and sequence */
    uint64_t block;       /* tokens */
    uint64_t page;        /* bytes of a block in a layer */
};
#define KV_GROUPS_MOST 12

struct kv_groups {
    struct kv_group kinds[KV_GROUPS_MOST];
    uint32_t count;
    uint32_t groups, layers; /* groups in all; layers in each */
    uint64_t block_bytes;    /* of a block of one group, on a GPU of the fullest stage */
};

/* Fails for layers that the engine packs otherwise. Bytes are of one GPU. */
bool kv_groups_plan(const struct model *model, const struct kv_limits *limits,
                    struct kv_groups *out, struct error *why);

/* Is the pool divided among several groups, or are its windows not freed? */
bool kv_groups_divide(const struct model *model, const struct kv_limits *limits,
                      struct kv_groups *out);

/* Blocks of all groups that a sequence of `length` tokens takes, and of one kind's. */
uint64_t kv_groups_blocks(const struct kv_groups *groups, const struct kv_limits *limits,
                          uint64_t length);
uint64_t kv_group_blocks(const struct kv_group *group, const struct kv_limits *limits,
                         uint64_t length);

/* Bytes of a token in a copy of the whole pool, such as in host memory, padding and states included. */
double kv_groups_token_bytes(const struct kv_groups *groups);

/* Tokens that the engine logs ("GPU KV cache size") for such a pool and sequences of at most `length`. */
uint64_t kv_groups_tokens(const struct kv_groups *groups, const struct kv_limits *limits,
                          uint64_t pool, uint64_t length);

/* The other way round: bytes of a pool for which the engine logs these tokens. */
double kv_groups_logged_bytes(const struct kv_groups *groups, const struct kv_limits *limits,
                              uint64_t tokens, uint64_t length);

/* The longest sequence that fits the pool, at most `most` tokens; 0: none. */
uint64_t kv_groups_longest(const struct kv_groups *groups, const struct kv_limits *limits,
                           uint64_t pool, uint64_t most);

/* How SGLang divides its KV memory among layers that keep different things.
 *
 * Three pools: of full layers, latents and keys of the indexer, for all tokens; of windows, for 0.8
 * times as many tokens; of states, which has 0.9 / 1.9 of the memory if there are any, and one slot
 * more than it lends. With prefix caching a request takes three slots.
 *
 * SGLang 0.5: model_executor/pool_configurator.py (_solve_pool_sizes),
 * mem_cache/kv_cache_configurator.py (_calculate_mamba_ratio), defaults of swa_full_tokens_ratio
 * and mamba_full_memory_ratio. Compressed layers (DeepSeek-V4) have pools that are not modelled. */

struct kv_pools {
    double tokens;   /* of full layers */
    double windowed; /* tokens of windows */
    double slots;    /* of states */
    uint64_t taken;  /* slots that a request takes if prefixes are cached */
};

/* Bytes of each pool, on one GPU. */
double kv_pools_full(const struct model *model, double tokens);
double kv_pools_window(const struct model *model, double tokens);
double kv_pools_states(const struct model *model, double slots);

/* What an engine with `shares` makes of `pool` bytes; false unless there are several pools. */
bool kv_pools_divide(const struct model *model, const struct kv_pool_rules *shares, double pool,
                     struct kv_pools *out);

/* The least bytes of which it makes so many tokens of full layers, which are what it logs. */
double kv_pools_logged_bytes(const struct model *model, const struct kv_pool_rules *shares,
                             uint64_t tokens);

/* Tokens of sequences of `length` tokens that the pools hold together. */
double kv_pools_tokens(const struct model *model, const struct kv_pools *pools, uint64_t length,
                       bool caches);
