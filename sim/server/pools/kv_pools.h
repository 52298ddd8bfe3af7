/* How SGLang divides its KV memory among layers that keep different things.
 *
 * Three pools: of full layers, latents and keys of the indexer, for all tokens; of windows, for 0.8
 * times as many tokens; of states, which has 0.9 / 1.9 of the memory if there are any, and one slot
 * more than it lends. With prefix caching a request takes three slots.
 *
 * SGLang 0.5: model_executor/pool_configurator.py (_solve_pool_sizes),
 * mem_cache/kv_cache_configurator.py (_calculate_mamba_ratio), defaults of swa_full_tokens_ratio
 * and mamba_full_memory_ratio. Compressed layers (DeepSeek-V4) have pools that are not modelled.
 */
#pragma once

#include "model/model.h"
#include "server/server_engine.h"

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
bool kv_pools_divide(const struct model *model, const struct server_engine_pools *shares,
                     double pool, struct kv_pools *out);

/* Tokens of sequences of `length` tokens that the pools hold together. */
double kv_pools_tokens(const struct model *model, const struct kv_pools *pools, uint64_t length,
                       bool caches);

/* Write what the pools hold and how many bytes each has. */
void kv_pools_say(const struct model *model, const struct kv_pools *pools, char *text, size_t size);
