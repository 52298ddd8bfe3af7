/* Where a server keeps KV: what of its memory sequences have that run, and what a prefix cache. */
#ifndef STUDY_SERVING_MEMORY_H
#define STUDY_SERVING_MEMORY_H

#include "decode/setup.h"
#include "serve/prefix_cache.h"
#include "study/shared.h"

struct serving_memory {
    uint32_t sequences; /* of a step at most */
    struct prefix_options prefix;
    uint64_t swap_blocks; /* room on the host for sequences that are put back */
    double written_bytes; /* of a token of a prompt, that leave for the host; on each GPU */
};

/* Of one server of `setup`, which has a workload. `threads` and `shared` as in run_setup(). */
bool serving_memory_plan(const struct setup *setup, uint32_t threads, struct shared *shared,
                         struct serving_memory *out, struct error *why);

/* Bytes of a token's KV, on all GPUs. */
uint64_t serving_token_bytes(const struct setup *setup);

#endif
