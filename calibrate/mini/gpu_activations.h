/* K and V from activations, in a miniature: CAPTURE's mechanism. Of the first half of a layer's
 * tokens (made.h) the host keeps what went into the layer, of the others K and V. Both come in
 * one copy, a layer ahead, into one of two buffers; the GPU makes K and V of the first ones, beside
 * the others, and attends to all:
 *
 *     pinned, a layer                    |  K, V of the others  | activations |
 *     a buffer    | K, V that are made   |  K, V of the others  | activations |
 *
 * K and V of a token stand together: [context][2][kv_heads][head_dim].
 */
#ifndef CALIBRATE_MINI_GPU_ACTIVATIONS_H
#define CALIBRATE_MINI_GPU_ACTIVATIONS_H

#include "calibrate/kernels/products.h"
#include "calibrate/mini/gpu.h"

struct activation_layer {
    pinned_memory kept; /* what the host keeps */
    gpu_memory weights;
};

struct gpu_activations {
    std::unique_ptr<activation_layer[]> layers;
    gpu_memory buffers[2];
    size_t made_bytes = 0, kv_bytes = 0; /* of the K and V that are made, and of all */
    gpu_memory norm, turns, positions, normed;
    struct products *products = nullptr;

    ~gpu_activations();
    bool create(gpu_mini *gpu, struct error *why);
};

/* Buffers, made when they are first asked for. */
bool activations_start(gpu_mini *gpu, enum miniature_id id, const struct policy_env *env,
                       struct error *why);

/* A layer of a step. */
bool activations_run(gpu_mini *gpu, struct play *play, struct error *why);

#endif
