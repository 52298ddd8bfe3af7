/* Serving engines by version: the limits of a step and the share of memory that each takes if its
 * user states none, how it finds the room for KV, and the way of a request outside the GPU.
 *
 * A version is a row of engines/NAME.yaml: what its source says, with the files that say it
 * (engines/README.md). No code compares versions: it reads fields. A version between two rows
 * behaves as the earlier one. predict/scenario/engine_memory.h turns a row into bytes. */
#pragma once

#include "core/error.h"
#include "decode/setup.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The way of a request through a server program, outside the GPU: the process that talks to clients, and the
 * scheduler.
 *
 *   client     |.sent                                             |t  |t
 *   API        |  prompt_token_ns each, request_ns |              ^ output_token_ns each
 *   scheduler                                      |..queue..|    |
 *   GPU        ...step...|......step......|......step......|......step......|
 *
 * Prompts pass the API process one after the other, and so do tokens on their way back; neither
 * stops the GPU. A step's CPU time is the system's `step_overhead` and `sequence_ns` for each
 * sequence in it. A synchronous engine adds it to the step. One that `overlaps` prepares a step
 * while the GPU computes the one before, so a step takes the longer of the two times, and the GPU
 * waits only for `gap_ns` between them. A request that arrives during a step is then seen by the
 * step after the next one, because the next one is scheduled already.
 *
 * All 0: no process in front, and a synchronous scheduler. */
struct server_path {
    int64_t prompt_token_ns; /* the API process is busy for so long with each token of a prompt */
    int64_t request_ns;      /* of each request beside that, in which it serves others */
    int64_t output_token_ns; /* it is busy with each token that it sends */
    int64_t sequence_ns;     /* the scheduler, with each sequence of a step */
    int64_t gap_ns;          /* from one step to the next, if they overlap */
    bool overlaps;           /* steps are scheduled while the one before runs */
    bool queued;             /* arrivals are when the scheduler had it: the next step has it, too */
    bool prompts_alone;      /* a step computes prompts or decodes, and prompts come first */
    bool prompts_launched; /* kernel by kernel: without CUDA graphs (predict/server/step_cost.c) */
    bool one_call;         /* of attention, for prompts and decodes of a step */
    bool reserves;         /* admission leaves room for outputs to come (schedule.c) */
    bool reserves_all;     /* for all of each, so that nothing is preempted */
    bool whole_prompts;    /* a step computes all of a prompt, or nothing of it */
};

/* How an engine finds the memory for KV. */
enum server_engine_memory {
    ENGINE_SHARE,    /* weights and KV have a share of the GPU's memory */
    ENGINE_MEASURED, /* a run with dummy requests finds the peak memory outside KV */
    ENGINE_REST,     /* a share of what weights and a step leave */
};

/* How the sampler picks among the top tokens, in the run that measures peak memory. */
enum server_engine_sampler { SAMPLER_NONE, SAMPLER_SORT, SAMPLER_TRITON, SAMPLER_FLASHINFER };

/* What torch.compile does when a server starts. Engines that measure their memory do so during its
 * work. Without CUDA graphs, the CPU launches each kernel of a step (predict/server/step_cost.c). */
enum server_compile {
    COMPILE_COLD,  /* it compiles and times kernels: its cache is empty, as in a new container */
    COMPILE_WARM,  /* it loads the kernels of an earlier start with the same settings */
    COMPILE_EAGER, /* nothing, nor are there CUDA graphs: vLLM's --enforce-eager */
};
extern const char *const server_compile_names[]; /* ends with NULL */

/* What counts in a run that measures memory. */
struct server_engine_runner {
    enum server_engine_sampler sampler;
    bool takes_graphs; /* the CUDA graphs are estimated, and taken off the room for KV */
    bool kept_buffers; /* those for penalties count */
};

/* Limits of a step on a GPU of this memory or more, up to the next row's. */
struct server_engine_gpus {
    double from;        /* bytes */
    const char *except; /* not on machines whose name contains this; NULL: on all */
    uint64_t sequences, batched_tokens;
    uint64_t graphs, graphs_of_4; /* the largest batch that is captured, of 4 GPUs or more; 0: no
                                     other limit than the sizes' */
};

/* To what its kernels round the sizes of experts in MXFP4 up, on GPUs of this compute capability or
 * more, up to the next row's: the width of an expert, and the hidden size. */
struct server_engine_padding {
    double from;
    uint64_t width, hidden;
};

/* The most that a message of its all-reduce may have for which it holds a workspace, among so many
 * GPUs of at least the compute capability `from` and below another. */
struct server_engine_reduce {
    double from, below, most, piece; /* bytes: most; pieces that its memory comes in, 0: any */
    uint64_t gpus;
};

/* What an engine leaves to activations and graphs if `usable` is not stated. */
struct server_engine_reserved {
    double fixed, token, graph, gpu; /* bytes; a token of a step, but of `tokens` at least */
    uint64_t tokens;
    double above, least; /* a GPU of more than `above` leaves `least` at least */
};

/* Where an engine's host memory lies, and how a size is rounded (predict/server/host_engine.h). */
enum host_memory_kind { HOST_PINNED, HOST_SHARED };
enum host_rounding {
    HOST_EXACT,
    HOST_PAGES,         /* blocks of each GPU in whole pages of 4 KiB */
    HOST_POWERS_OF_TWO, /* the tensor of each layer */
    HOST_EACH_POOL,     /* a model with states has two pools, of the size each; and a page more */
    HOST_FIRST_OF_LATENTS, /* of models with latents, which all GPUs share, only the first takes it */
};
struct host_engine {
    const char *flag; /* its name: of a command, by which it takes host memory */
    const char *engine, *versions;
    double unit; /* bytes */
    bool each, whole, above_gpu;
    enum host_memory_kind kind;
    enum host_rounding rounding;
    const char *source;
};

/* How an engine moves KV between a GPU and host memory: its connector, as vLLM calls that part.
 *
 *     GPU    |......step......|......step......|......step......|
 *     saves             |fill |--copy--|
 *     loads  |admitted--copy--|  |poll |report |first step that computes the request
 *     CPU                     ^ the copies' calls come before the next launch
 *
 * KV of a unit (mechanisms.prefix_unit) lies in pieces, which cross one by one: small pieces are slower
 * than the link (link.calls_in and its neighbours in machine/curves.def), and each costs the CPU time. Who
 * waits for a copy is a mechanism: prefix_load, prefix_save.
 *
 * A connector is a row of `connectors` of an engine's version, with the files that say so; a system names its
 * own (`connector`). docs/connectors.md tells what each does. */

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

/* Loads, or saves. */
struct connector_way {
    enum connector_pieces pieces;
    enum connector_mover by;
    double below; /* pieces of fewer bytes are moved by `small`; 0: `by` moves all */
    enum connector_mover small;
    int64_t unit_ns; /* of each unit beside its copy: nothing crosses meanwhile */
};

/* The scheduler asks, while all waits, which tokens of a request's prompt lie below the GPU. */
struct connector_lookup {
    int64_t request_ns, token_ns; /* for a request, and each token of its prompt */
    int64_t gpu_ns;               /* on several GPUs, for the answer of each */
    bool again;                   /* in each step in which the request waits; else once */
};

struct server_connector {
    const char *name, *source;
    struct connector_way load, save;
    /* Of dense models, and of those with latents, both ways; PIECES_UNIT: as others. */
    enum connector_pieces dense, latents;
    /* Blocks are free before they are saved: a step that takes one waits until it is. */
    bool frees_early;
    bool prompts_only;  /* KV of answers is not saved, until it is part of a prompt */
    bool calls_first;   /* the thread that launches a step first makes the calls of copies */
    bool keeps_windows; /* with it layers with windows keep all tokens (kv_pools.h) */
    bool one_stream;    /* of loads and saves: each copy begins when all before it have ended */
    /* From the one in which a request is admitted to the first that may compute it, if its load is
     * shorter than a step and others run; 0: 1. */
    uint32_t steps;
    struct connector_lookup lookup;
    uint32_t gpu_units; /* that the GPU keeps room for beside its KV: copies pass there */
    /* Host memory that it takes if none is stated, by the GPU's room for KV; 0: all. */
    double host_ratio;
    double pool_share; /* of a pool's memory that it fills; 0: all */
    int64_t step_ns;   /* CPU time of each step of a model on several GPUs */
};

/* With what an engine does not start. What is stated holds of the point, all of it; of `below` and `from`, if
 * both are stated, one. */
struct engine_refusal {
    const char *reason;    /* its name */
    const char *experts;   /* the type of their weights */
    const char *weights;   /* the type of all others */
    const char *model;     /* its class */
    const struct node *kv; /* a list of types of KV; NULL: any */
    bool indexer;          /* the model's own indexer selects */
    bool blocks;        /* a GPU's slice of an expert is no multiple of the checkpoint's blocks */
    double below, from; /* compute capability of the GPU */
    const char *source;
};

/* What follows if the length that is served exceeds the pool of KV. */
enum engine_too_long { TOO_LONG_ABORTED, TOO_LONG_REFUSED };

enum {
    SERVER_ENGINE_NAME = 256,
    SERVER_ENGINE_GPUS = 12,
    SERVER_ENGINE_PADDINGS = 6,
    SERVER_ENGINE_REDUCES = 8
};

/* All zero: no engine. KV then takes what weights and a step's tensors leave. Texts and rows live as long
 * as the process. */
struct server_engine {
    char name[SERVER_ENGINE_NAME]; /* as its user names it, canonical: "vllm-0.21"; or a path */
    const char *program;           /* "vllm"; NULL: none, or a file of the user's own */
    const char *row;      /* the version by which it is computed: "vllm-0.20"; NULL: none */
    const char *stand_in; /* which of the known versions that is: "earliest", "latest" or
                                      "nearest earlier"; NULL: it has a row of its own */
    uint64_t content;     /* hash of all that decides a figure */
    const char *summary, *source;
    const char *earlier;   /* how a version before all that are known differs; NULL: not said */
    const char *errors_of; /* the measured servers that tell its errors: "server"; NULL: none are */
    struct server_engine_gpus gpus[SERVER_ENGINE_GPUS];
    uint32_t gpu_count;
    enum server_engine_memory memory;
    double usable; /* share of the GPU's memory; 0: computed from what is reserved */
    struct server_engine_reserved reserved;
    double kernel_bytes;                       /* code and tables that CUDA loads when measuring */
    struct server_engine_runner runner, dense; /* of mixtures of experts; of dense models */
    struct graph_sizes sizes[SETUP_GRAPH_SIZES]; /* of graphs, ascending */
    uint32_t size_count;
    struct server_engine_padding padding[SERVER_ENGINE_PADDINGS];
    uint32_t padding_count;
    struct server_engine_reduce reduces[SERVER_ENGINE_REDUCES];
    uint32_t reduce_count;
    bool mxfp4_fp8;     /* experts of MXFP4 meet fp8, on tensor cores that can */
    bool caches_states; /* prefixes of a model with states, unless one says no */
    struct kv_group_rules groups;
    struct kv_pool_rules pools;
    struct server_path path; /* of a request, outside the GPU */
    struct host_engine *host;
    uint32_t host_count;
    struct server_connector *connectors;
    uint32_t connector_count;
    enum engine_too_long too_long;
    const char *machines; /* how a server of several machines is started; NULL: not known */
    struct engine_refusal *refusals;
    uint32_t refusal_count;
};

/* Find the engine of a name: "none", "vllm-0.21", or that as people write it ("vLLM 0.21.1",
 * "vllm==0.21.0"), or the path of a file as those of engines/, whose last version it is. The name
 * stood at `file`:`line`. Fails if there is no such engine, or if its file is invalid. Safe from
 * several threads; a file is read once. */
bool server_engine_find(const char *text, const char *file, int line, struct server_engine *out,
                        struct error *why);

/* Write the canonical name of the engine that `text` names into `out`; false if it names none. */
bool server_engine_canonical(const char *text, char *out, size_t size);

/* "none", and all versions that have rows in engines/; ends with NULL. It lives as long as the
 * process. NULL on failure. */
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
    uint32_t gpus;       /* that share the model */
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
