#include "calibrate/harness/gpu_groups.h"

#include "calibrate/gpu/groups.h"
#include "calibrate/link/groups.h"

const struct group gpu_groups[] = {
    {"gpu-memory", "reads, copies and gathers inside HBM", 0.10, gpu_memory_speed},
    {"launch", "launches, graphs, events, synchronisation", 0.06, launches},
    {"flags", "flags that kernels poll", 0.03, flags},
    {"link-copies", "copies each way by size, pinned and pageable", 0.10, link_copies},
    {"link-rows", "scattered rows, a copy each", 0.04, link_rows},
    {"link-loads", "loads and stores of pinned memory by SMs", 0.10, link_loads},
    {"link-sharing", "copies and kernels side by side", 0.06, link_sharing},
    {"link-stores", "CPU stores into GPU memory", 0.03, link_stores},
    {"attention", "decode attention by batch, heads, length and type", 0.15, attention_speed},
    {"products", "matrix products by rows, the models' projections", 0.18, product_speed},
    {"selection", "top-k, scores, labels, merging", 0.10, selection_speed},
    {"layer", "norms, positions, K and V from activations", 0.05, layer_speed},
    {nullptr, nullptr, 0, nullptr},
};
