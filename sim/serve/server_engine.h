/* Serving engines by version: the limits of a step and the share of memory that each takes if its
 * user states none, how it finds the room for KV, and the way of a request outside the GPU.
 *
 * A row is what the source of that version does; server_engine.c names the files. A version between
 * two rows behaves as the earlier one. serving/engine_memory.h turns a row into bytes.
 */
#ifndef SERVE_SERVER_ENGINE_H
#define SERVE_SERVER_ENGINE_H

#include "base/error.h"
#include "serve/server_path.h"

#include <stdbool.h>
#include <stdint.h>

enum server_engine_id {
    SERVER_ENGINE_NONE, /* KV takes what weights and a step's tensors leave */
    SERVER_ENGINE_VLLM_008,
    SERVER_ENGINE_VLLM_014,
    SERVER_ENGINE_VLLM_017,
    SERVER_ENGINE_VLLM_019,
    SERVER_ENGINE_VLLM_020,
    SERVER_ENGINE_VLLM_022,
    SERVER_ENGINE_VLLM_023,
    SERVER_ENGINE_VLLM_027,
    SERVER_ENGINE_VLLM_029,
    SERVER_ENGINE_SGLANG_05,
    SERVER_ENGINE_TENSORRT_LLM_10,
    SERVER_ENGINE_COUNT
};
extern const char *const server_engine_names[SERVER_ENGINE_COUNT + 1]; /* ends with NULL */

/* An engine as its user names it: a row, or a version without a row of its own. */
enum { SERVER_ENGINE_NAME = 32 };
struct server_engine_version {
    enum server_engine_id id;      /* the row by which it is computed */
    char name[SERVER_ENGINE_NAME]; /* canonical: "vllm-0.21" */
};

/* Read "none", "vllm-0.21", or that as people write it: "vLLM 0.21.1", "vllm==0.21.0". A version
 * between two rows behaves as the earlier one, as one before the first row does as the first.
 * Returns false for anything else. */
bool server_engine_read(const char *text, struct server_engine_version *out);

/* Write the canonical name of the engine that `text` names into `out`; false if it names none. */
bool server_engine_canonical(const char *text, char *out, size_t size);

/* The same as server_engine_read() for a name that stood at `file`:`line`. */
bool server_engine_find(const char *text, const char *file, int line,
                        struct server_engine_version *out, struct error *why);

/* Which of the known versions a version without a row of its own is computed as: "earliest",
 * "latest" or "nearest earlier"; NULL for one that has a row. */
const char *server_engine_stand_in(const struct server_engine_version *version);

/* How the sampler picks among the top tokens, in the run that measures peak memory. */
enum server_engine_sampler { SAMPLER_NONE, SAMPLER_SORT, SAMPLER_TRITON, SAMPLER_FLASHINFER };

/* vLLM's second model runner serves dense models since 0.23. Its dummy run skips the sampler. What
 * it allocates before that run counts since 0.27, and its CUDA graphs since 0.29. */
enum server_engine_runner {
    RUNNER_FIRST,
    RUNNER_SECOND,
    RUNNER_SECOND_BUFFERS,
    RUNNER_SECOND_GRAPHS, /* and buffers */
};

/* What torch.compile does when a server starts. Engines that measure their memory do so during its
 * work. Without CUDA graphs, the CPU launches each kernel of a step (serving/steps/step_launch.h). */
enum server_compile {
    COMPILE_COLD,  /* it compiles and times kernels: its cache is empty, as in a new container */
    COMPILE_WARM,  /* it loads the kernels of an earlier start with the same settings */
    COMPILE_EAGER, /* nothing, nor are there CUDA graphs: vLLM's --enforce-eager */
};
extern const char *const server_compile_names[]; /* ends with NULL */

struct server_engine {
    const char *summary;
    double usable;     /* share of the GPU's memory; 0: computed from the limits, as SGLang does */
    bool measures;     /* a run with dummy requests finds the peak memory outside KV */
    bool takes_graphs; /* the CUDA graphs are estimated, and taken off the room for KV */
    enum server_engine_sampler sampler;
    enum server_engine_runner runner; /* of dense models; mixtures of experts have the first */
    bool kept_buffers;                /* of server_engine_for(): those for penalties count */
    bool of_rest;                     /* `usable` is a share of what weights and a step leave */
    bool mxfp4_fp8;                   /* experts of MXFP4 meet fp8, on tensor cores that can */
    double kernel_bytes;              /* of code and tables that CUDA loads during that run */
    struct server_path path;          /* of a request, outside the GPU */
};
extern const struct server_engine server_engines[SERVER_ENGINE_COUNT];

/* Does the engine divide its pool of KV among groups of layers, as vLLM does? */
static inline bool server_engine_groups(enum server_engine_id id)
{
    return id >= SERVER_ENGINE_VLLM_008 && id <= SERVER_ENGINE_VLLM_029;
}

/* The row as it is for a dense model, or for a mixture of experts. */
struct server_engine server_engine_for(enum server_engine_id id, bool dense);

/* What an engine decides by the GPU that it finds. */
struct server_engine_gpu {
    double bytes;  /* of memory */
    bool a100;     /* vLLM has smaller steps on it than on other GPUs of its size */
    uint32_t gpus; /* that share the model */
};

/* Limits of a step. */
struct server_engine_limits {
    uint64_t sequences, batched_tokens;
};

/* The limits of an API server whose user states none. `id` is not SERVER_ENGINE_NONE. */
struct server_engine_limits server_engine_limits(enum server_engine_id id,
                                                 const struct server_engine_gpu *gpu);

/* The share of the GPU's memory that weights, activations and KV may take, with this limit of
 * tokens. */
double server_engine_usable(enum server_engine_id id, const struct server_engine_gpu *gpu,
                            uint64_t batched_tokens);

/* The rows of the CUDA graph that computes a step of `sequences` which all decode: those of the next
 * size that the engine has captured, and the rows beyond visit experts, too. `sequences` if no
 * graph holds so many, and without an engine. */
uint32_t server_engine_graph_rows(enum server_engine_id id, const struct server_engine_gpu *gpu,
                                  uint32_t sequences);

/* CUDA graphs that vLLM captures for steps of these limits, over all sizes and both modes. */
uint32_t server_engine_graphs(uint64_t sequences, uint64_t batched_tokens);

#endif
