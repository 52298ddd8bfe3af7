/* Where a server keeps KV: what of its memory sequences have that run, and what a prefix cache. */
#ifndef SERVING_SERVING_MEMORY_H
#define SERVING_SERVING_MEMORY_H

#include "run/context.h"
#include "scenario/point.h"
#include "serve/prefix_cache.h"

struct serving_memory {
    uint32_t sequences; /* of a step at most */
    struct prefix_options prefix;
    uint64_t swap_blocks; /* room on the host for sequences that are put back */
    double written_bytes; /* of a token of a prompt, that leave for the host; on each GPU */
};

/* The memory of one server of `point`, which has a workload. */
bool serving_memory_plan(const struct point *point, const struct run_context *context,
                         struct serving_memory *out, struct error *why);

/* Bytes of a token's KV, on all GPUs. */
uint64_t serving_token_bytes(const struct setup *setup);

#endif
