/* Serving engines by version: the limits of a step and the share of memory that each takes if its user states
 * none, how it finds the room for KV, and the way of a request outside the GPU. A version is a row of
 * engines/NAME.yaml: what its source says, with the files that say it (engines/README.md). No code compares
 * versions: it reads fields. A version between two rows behaves as the earlier one.
 * predict/scenario/engine_memory.h turns a row into bytes. */
#pragma once

#include "core/error.h"
#include "decode/setup.h"

/* How an engine finds the memory for KV. */
enum server_engine_memory {
    ENGINE_SHARE,    /* weights and KV have a share of the GPU's memory */
    ENGINE_MEASURED, /* a run with dummy requests finds the peak memory outside KV */
    ENGINE_REST,     /* a share of what weights and a step leave */
};

/* How the sampler picks among the top tokens, in the run that measures peak memory. */
enum server_engine_sampler { SAMPLER_NONE, SAMPLER_SORT, SAMPLER_TRITON, SAMPLER_FLASHINFER };

/* What torch.compile does when a server starts. Without CUDA graphs, the CPU launches each kernel. */
enum server_compile {
    COMPILE_COLD,  /* it compiles and times kernels: its cache is empty, as in a new container */
    COMPILE_WARM,  /* it loads the kernels of an earlier start with the same settings */
    COMPILE_EAGER, /* nothing, nor are there CUDA graphs: vLLM's --enforce-eager */
};
extern const char *const server_compile_names[]; /* ends with NULL */

enum host_memory_kind { HOST_PINNED, HOST_SHARED };
enum host_rounding {
    HOST_EXACT,
    HOST_PAGES,         /* blocks of each GPU in whole pages of 4 KiB */
    HOST_POWERS_OF_TWO, /* the tensor of each layer */
    HOST_EACH_POOL,     /* a model with states has two pools, of the size each; and a page more */
    HOST_FIRST_OF_LATENTS, /* of models with latents, which all GPUs share, only the first takes it */
};

/* The pieces in which a connector moves KV. */
enum connector_pieces {
    PIECES_UNIT,  /* a whole unit */
    PIECES_BLOCK, /* all layers of a block */
    PIECES_LAYER, /* K and V of a layer of a block */
    PIECES_HALF,  /* K or V of a layer of a block; a latent is not divided */
    PIECES_ROW,   /* K or V of a layer of a token */
    PIECES_SIDE,  /* K or V of all layers of a unit */
};

/* What moves pieces: a call for each, one call for all, or a kernel that reads or writes host memory. */
enum connector_mover { MOVER_CALLS, MOVER_BATCH, MOVER_KERNEL };

/* What follows if the length that is served exceeds the pool of KV. */
enum engine_too_long { TOO_LONG_ABORTED, TOO_LONG_REFUSED };

enum { SERVER_ENGINE_NAME = 256 };

/* struct server_engine, and what it holds. */
/* clang-format off */
#define STRUCT(name) struct name {
#define END };
#define MEMBER(type, member) type member;
#define FIELD(owner, type, member, ...) type member;
#define INSIDE(owner, inner, member, key) struct inner member;
#define LIST(owner, inner, member, number, most, key) struct inner member[most]; uint32_t number;
#define ROWS(owner, inner, member, number, key) struct inner *member; uint32_t number;
/* clang-format on */
#include "server/engine_fields.def"

/* Find the engine of a name: "none", "vllm-0.21", or as people write it ("vLLM 0.21.1", "vllm==0.21.0"), or
 * the last version of a file as those of engines/. The name stood at `file`:`line`. Safe from several
 * threads; a file is read once. */
bool server_engine_find(const char *text, const char *file, int line, struct server_engine *out,
                        struct error *why);

/* Write the canonical name of the engine that `text` names into `out`; false if it names none. */
bool server_engine_canonical(const char *text, char *out, size_t size);

/* "none", and all versions that have rows in engines/; ends with NULL, for the life of the process. */
const char *const *server_engine_names(struct error *why);

/* The engine of one of the shipped programs, without a version: the latest that is known of it. */
const char *server_engine_latest(const char *program, struct error *why);

/* The connector of this name; NULL if the engine has none. */
const struct server_connector *server_engine_connector(const struct server_engine *engine,
                                                       const char *name);

/* What an engine decides by the GPU that it finds. */
struct server_engine_gpu {
    double bytes;        /* of memory */
    const char *machine; /* name */
    uint32_t gpus;       /* that share the model, or a stage of it */
    uint32_t stages;     /* 0: 1 */
    uint32_t ranks;      /* that divide attention alone; 0: 1 */
    uint64_t captured;   /* the largest batch that is captured; 0: the engine's own */
};

/* The limits of an API server whose user states none. The engine has a row. */
const struct server_engine_gpus *server_engine_limits(const struct server_engine *engine,
                                                      const struct server_engine_gpu *gpu);

/* The share of the GPU's memory that weights, activations and KV may take, with this limit of tokens. */
double server_engine_usable(const struct server_engine *engine, const struct server_engine_gpu *gpu,
                            uint64_t batched_tokens);

/* What the engine adds around the GPU's work of a step; with `launches` it has no CUDA graphs. */
struct setup_engine server_engine_around(const struct server_engine *engine,
                                         const struct server_engine_gpu *gpu, bool launches);

/* CUDA graphs that are captured for steps of these limits, over all sizes and both modes. */
uint32_t server_engine_graphs(const struct server_engine *engine, uint64_t sequences,
                              uint64_t batched_tokens);
