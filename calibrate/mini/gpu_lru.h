/* An LRU cache that the GPU manages alone, as in HiSparse: kernels look up, choose the slots to
 * evict, update, and load missed rows from pinned memory into the slots; attention reads the slots.
 * The CPU only launches: kernel by kernel, or a step as one graph.
 *
 * A KV head has two caches (host/head.h), both in the layer's memory: that of turn t has the number
 * t * kv_heads + head. The same kernels warm the caches with the demands before the first step, so
 * that all hits come from the GPU's own decisions. After each step, while the clock stands, the
 * misses are compared one by one with those of the simulator's policy. A slot that was not filled
 * is a NaN.
 */
#pragma once

#include "calibrate/mini/gpu.h"

struct gpu_lru_layer {
    gpu_memory slot_of, token_of, order; /* as in struct kernel_lru */
    gpu_memory rows;                     /* [2][caches][capacity], keys and values */
};

struct gpu_lru {
    uint32_t capacity = 0;
    std::unique_ptr<gpu_lru_layer[]> layers;
    gpu_memory wanted, caches;           /* [steps][layers][kv_heads]: a list, and its cache */
    gpu_memory warm_wanted, warm_counts; /* of one layer, turn and step of the warm-up */
    gpu_memory all_caches;               /* [2][kv_heads] */
    gpu_memory slots;                    /* of one layer */
    gpu_memory missed, miss_counts;      /* [layers][kv_heads] */
    gpu_graphs graphs;

    bool create(gpu_mini *gpu, uint32_t slots_each, struct error *why);
};

/* Warm the caches; create them at the first call. */
bool gpu_lru_start(gpu_mini *gpu, enum miniature_id id, const struct policy_env *env,
                   struct error *why);

/* Run a layer of a step: kernel by kernel, or with one graph launch a step. */
bool gpu_lru_run(gpu_mini *gpu, struct play *play, struct error *why);
bool gpu_lru_run_graph(gpu_mini *gpu, struct play *play, struct error *why);

/* After a step: compare the misses of all its layers with the policy's. */
bool gpu_lru_compare(gpu_mini *gpu, struct play *play, bool *agrees, struct error *why);
