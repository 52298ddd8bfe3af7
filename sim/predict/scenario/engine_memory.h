/* How a serving engine divides a GPU's memory, line by line, and what it leaves for KV.
 *
 * vLLM loads the weights, runs its largest step and its sampler with dummy requests, and takes the peak of
 * both, the growth outside PyTorch's allocator and (since 0.20) an estimate of its CUDA graphs off
 * `hbm_usable` of the GPU's memory; the rest is KV. If torch.compile's cache is empty, its work can exceed
 * that peak. Since 0.23, dense models have a model runner whose dummy run skips the sampler
 * (server_engine.h). The CUDA context and NCCL exist before the first measurement and lie in the part that
 * vLLM leaves alone, as do graphs that are not estimated. SGLang takes weights off a share of the memory that
 * its context leaves, and measures nothing: activations and graphs have the other share.
 *
 *     | left alone | weights | position tables | buffers | peak | outside PyTorch | graphs | KV |
 *
 * Tensors are counted from the engines' sources. Three figures are not in them: memory that CUDA
 * takes for loaded kernels and for a graph (start-up logs of others), and a context (assumed). */
#pragma once

#include "predict/scenario/point.h"

#define ENGINE_MEMORY_MOST 12

struct engine_memory_line {
    const char *name, *what;
    double bytes;
    enum basis basis;
};

/* The lines add up to the GPU's memory; the last one is KV, of 0 bytes if nothing is left. */
struct engine_memory {
    struct engine_memory_line lines[ENGINE_MEMORY_MOST];
    uint32_t count;
    double alone; /* bytes that neither weights nor the engine's buffers nor KV may take */
    double pool;  /* bytes of KV, of one GPU */
};

/* The memory of one GPU of a server with an `engine`. Fails if a figure that the sampler needs is missing. */
bool engine_memory_of(const struct point *point, struct engine_memory *out, struct error *why);

/* Bytes of one GPU as the engine's log states them: of what it loads, with padding and tables of positions;
 * and of KV, of the larger pool if there are several. */
double engine_loaded_bytes(const struct point *point);
double engine_logged_kv(const struct point *point);

/* How the engine of a server that has one divides its pool (kv_pools.h). */
struct kv_limits engine_kv_limits(const struct point *point);

/* Write it into the point's setup, for all that plans memory. A stated pool has the bytes that its engine
 * means by so many tokens; one in blocks or bytes becomes the tokens that it logs for it. */
bool engine_memory_set(struct point *point, struct error *why);

/* Does all that a row of an engine's rules states hold of the setup? And does it name the model's class? */
bool engine_rule_holds(const struct engine_rule *rule, const struct setup *setup);
bool engine_rule_names(const struct engine_rule *rule, const struct model *model);

/* Write into the setup with what its engine does not start: the first row of its `refuses` that holds. */
void engine_refusal_set(struct point *point);
