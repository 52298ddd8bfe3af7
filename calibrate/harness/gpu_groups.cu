#include "calibrate/harness/gpu_groups.h"

#include "calibrate/device/facts.h"
#include "calibrate/gpu/groups.h"
#include "calibrate/link/groups.h"

/* Each group runs in a process of its own, which has to select the GPU first. */
template <bool (*RUN)(const struct effort *, uint64_t, struct findings *, struct error *)>
static bool on_gpu(const struct effort *effort, uint64_t seed, struct findings *findings,
                   struct error *why)
{
    return gpu_find(why) && RUN(effort, seed, findings, why);
}

/* By what the answers hang on, in case that time runs out. */
const struct group gpu_groups[] = {
    {"link-copies", "copies each way by size, pinned and pageable", 0.10, on_gpu<link_copies>},
    {"link-sharing", "copies and kernels side by side", 0.06, on_gpu<link_sharing>},
    {"link-loads", "loads and stores of pinned memory by SMs", 0.10, on_gpu<link_loads>},
    {"link-stores", "CPU stores into GPU memory", 0.03, on_gpu<link_stores>},
    {"link-blocks", "KV in pieces, by calls, batches and kernels", 0.06, on_gpu<link_blocks>},
    {"link-beside", "the same beside attention", 0.03, on_gpu<link_beside>},
    {"launch", "launches, graphs, events, synchronisation", 0.06, on_gpu<launches>},
    {"flags", "flags that kernels poll", 0.03, on_gpu<flags>},
    {"gpu-memory", "reads, copies and gathers inside HBM", 0.10, on_gpu<gpu_memory_speed>},
    {"attention", "decode attention by batch, heads, length and type", 0.13,
     on_gpu<attention_speed>},
    {"products", "matrix products by rows, the models' projections", 0.16, on_gpu<product_speed>},
    {"selection", "top-k, scores, labels, merging", 0.09, on_gpu<selection_speed>},
    {"layer", "norms, positions, K and V from activations", 0.05, on_gpu<layer_speed>},
    {nullptr, nullptr, 0, nullptr},
};
