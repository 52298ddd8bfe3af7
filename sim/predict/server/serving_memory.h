/* How a server divides its memory for KV between running sequences and the prefix cache. */
#pragma once

#include "predict/decode/context.h"
#include "predict/scenario/point.h"
#include "server/prefix/prefix_cache.h"
#include "server/pools/kv_groups.h"

struct serving_memory {
    uint32_t sequences; /* most of a step */
    struct prefix_options prefix;
    uint64_t block_bytes; /* of a block below the GPU, of all GPUs together */
    uint64_t swap_blocks; /* room on the host for preempted sequences */
    double written_bytes; /* written to the host for each token of a prompt, by each GPU */
};

/* The memory of one server of `point`, which has a workload. */
bool serving_memory_plan(const struct point *point, const struct run_context *context,
                         struct serving_memory *out, struct error *why);

/* How the engine of a server that has one divides its pool (kv_groups.h). */
struct kv_limits serving_kv_limits(const struct point *point);

/* Bytes of KV of one token, on all GPUs together. */
uint64_t serving_token_bytes(const struct setup *setup);
