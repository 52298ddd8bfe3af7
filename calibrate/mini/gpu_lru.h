/* An LRU cache that the GPU alone looks after, as HiSparse has it: kernels look up, choose who
 * leaves, load what was missed from pinned memory into the slots of the cache, and update;
 * attention reads the slots. The CPU only launches: kernel by kernel, or a step as one graph.
 *
 * A KV head has two caches (host/head.h), both in the layer's memory: that of turn t has the number
 * t * kv_heads + head. They are warmed by the same kernels with the demands before the first step,
 * so that what hits is the GPU's own doing; behind each step, when the clock stands, it is held
 * against the simulator's policy, miss by miss. A slot that was not filled is a NaN.
 */
#ifndef CALIBRATE_MINI_GPU_LRU_H
#define CALIBRATE_MINI_GPU_LRU_H

#include "calibrate/mini/gpu.h"

struct gpu_lru_layer {
    gpu_memory slot_of, token_of, order; /* as in struct kernel_lru */
    gpu_memory rows;                     /* [2][caches][capacity], keys and values */
};

struct gpu_lru {
    uint32_t capacity = 0;
    std::unique_ptr<gpu_lru_layer[]> layers;
    gpu_memory wanted, caches;           /* [steps][layers][kv_heads], of a list, a number */
    gpu_memory warm_wanted, warm_counts; /* of one layer, turn and step of the warm-up */
    gpu_memory all_caches;               /* [2][kv_heads] */
    gpu_memory slots;                    /* of one layer */
    gpu_memory missed, miss_counts;      /* [layers][kv_heads] */
    gpu_graphs graphs;

    bool create(gpu_mini *gpu, uint32_t slots_each, struct error *why);
};

/* Caches that are warm, made when they are first asked for. */
bool gpu_lru_start(gpu_mini *gpu, enum miniature_id id, const struct policy_env *env,
                   struct error *why);

/* A layer of a step, launched; and one launch a step. */
bool gpu_lru_run(gpu_mini *gpu, struct play *play, struct error *why);
bool gpu_lru_run_graph(gpu_mini *gpu, struct play *play, struct error *why);

/* Behind it: what it missed in all its layers, beside what the policy says. */
bool gpu_lru_compare(gpu_mini *gpu, struct play *play, bool *agrees, struct error *why);

#endif
