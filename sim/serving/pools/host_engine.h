/* What the size that one types for host memory means, and what the engine then takes.
 *
 * Engines count in GiB, in 10^9 bytes or in bytes, of each GPU or of all; and what they take is not
 * what was asked: vLLM's pinned tensors, one a layer, were each rounded up to a power of two, so
 * that up to twice as much is gone; SGLang gives a model's states a pool of the same size again.
 * host_engines.def has a row for each, with its source.
 */
#ifndef SERVING_POOLS_HOST_ENGINE_H
#define SERVING_POOLS_HOST_ENGINE_H

#include "serving/pools/kv_groups.h"

enum host_memory_kind { HOST_PINNED, HOST_SHARED };
enum host_rounding {
    HOST_EXACT,
    HOST_PAGES,         /* blocks of each GPU in whole pages of 4 KiB */
    HOST_POWERS_OF_TWO, /* the tensor of each layer */
    HOST_EACH_POOL,     /* a model with states has two pools, of the size each; and a page more */
    HOST_FIRST_OF_LATENTS, /* of models with latents, which all GPUs share, only the first takes it */
};

struct host_engine {
    const char *flag, *engine;
    enum server_engine_id first;
    double unit; /* bytes */
    bool each, whole, above_gpu;
    enum host_memory_kind kind;
    enum host_rounding rounding;
    const char *versions, *source;
};

/* The row of a preset's command; NULL: it has no size of host memory. */
const struct host_engine *host_engine_of(const char *command, enum server_engine_id engine);

/* All rows, for tests; NULL behind the last. */
const struct host_engine *host_engine_row(uint32_t index);

/* The number that is typed for `bytes` on all of so many GPUs together. */
double host_engine_typed(const struct host_engine *engine, double bytes, uint32_t gpus);

/* Bytes that a server of `model` takes if asked for `bytes` on all its GPUs together. */
double host_engine_takes(const struct host_engine *engine, const struct model *model,
                         const struct kv_limits *limits, double bytes);

/* "GiB pinned", "GiB of /dev/shm" without the number. */
const char *host_engine_where(const struct host_engine *engine);

#endif
