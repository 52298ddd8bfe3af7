/* K and V from activations, in a miniature: CAPTURE's mechanism. For the first half of a layer's
 * tokens (made.h) the host keeps the layer's input; for the others it keeps K and V. Both arrive in
 * one copy, a layer ahead, in one of two buffers. The GPU makes K and V of the first half, beside
 * the others, and attends to all:
 *
 *     pinned, a layer                    |  K, V of the others  | activations |
 *     a buffer    | K, V that are made   |  K, V of the others  | activations |
 *
 * K and V of a token stand together: [context][2][kv_heads][head_dim].
 */
#pragma once

#include "calibrate/kernels/products.h"
#include "calibrate/mini/gpu.h"

struct activation_layer {
    pinned_memory kept; /* K and V, then activations: the layer in host memory */
    gpu_memory weights;
};

struct gpu_activations {
    std::unique_ptr<activation_layer[]> layers;
    gpu_memory buffers[2];
    size_t made_bytes = 0, kv_bytes = 0; /* of the K and V that are made, and of all K and V */
    gpu_memory norm, turns, positions, normed;
    struct products *products = nullptr;

    ~gpu_activations();
    bool create(gpu_mini *gpu, struct error *why);
};

/* Create the buffers at the first call. */
bool activations_start(gpu_mini *gpu, enum miniature_id id, const struct policy_env *env,
                       struct error *why);

/* Is cuBLAS here, which makes K and V? */
bool activations_can(const gpu_mini *gpu, enum miniature_id id, struct error *why);

/* Run a layer of a step. */
bool activations_run(gpu_mini *gpu, struct play *play, struct error *why);
