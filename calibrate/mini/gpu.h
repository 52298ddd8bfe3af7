/* A miniature on a GPU: the buffers of a host's miniature (mini.h), and buffers in GPU memory. KV
 * on the host is pinned in place; a second copy of it is pageable.
 *
 * The demands of all heads and steps, and all queries, are in GPU memory from the beginning; the
 * outputs of all steps are copied back after the last one. A sample is the time of each step, from
 * its first launch until the CPU has seen its last kernel done, divided evenly among the layers.
 *
 * Caches are cold before each step. Where copies run ahead into the next step, steps follow each
 * other without a pause instead: in a pause the copies would win time that nobody counts. There the
 * GPU reads what has just come over the link, or weights; between two uses of a layer's weights it
 * reads all other layers.
 *
 *   gpu              buffers, and the runtime
 *   gpu_cold         cold caches
 *   gpu_program      the mechanisms
 *   gpu_activations  K and V made on the GPU
 *   gpu_lru          a cache that the GPU manages
 *   gpu_qsac         another: QSAC
 */
#pragma once

#include "calibrate/device/device.h"
#include "calibrate/device/graph.h"
#include "calibrate/kernels/kernels.h"

#include "calibrate/mini/gpu_cold.h"

extern "C" {
#include "calibrate/mini/play.h"
}

#include <memory>

struct gpu_event {
    cudaEvent_t at = nullptr;

    gpu_event() = default;
    gpu_event(const gpu_event &) = delete;
    gpu_event &operator=(const gpu_event &) = delete;
    ~gpu_event();
    bool create(struct error *why);
};

/* A list of at most `most` tokens for each (step, layer, KV head), and the length of each. */
struct gpu_lists {
    gpu_memory tokens, counts;
};

struct gpu_layer {
    gpu_memory kv;    /* all K and V */
    gpu_memory cache; /* each row at its place, once it was fetched */
    const char *seen; /* the host's KV, as the GPU sees it */
    bool pinned = false;
    struct buffer pageable = {nullptr, 0}; /* a second copy of the host's KV */
};

struct gpu_qsac;
struct gpu_mini;
struct gpu_lru;
struct gpu_activations;

/* A graph for each step, because a graph records addresses. */
struct gpu_graphs {
    std::unique_ptr<gpu_graph[]> steps;

    /* `record` launches a step on the main stream. It is called once outside of the recording, too.
     */
    bool create(gpu_mini *gpu, bool (*record)(gpu_mini *, uint32_t step, struct error *),
                struct error *why);
    bool launch(const gpu_mini *gpu, uint32_t step, struct error *why) const;
};

struct gpu_mini {
    struct mini *mini = nullptr;
    std::unique_ptr<gpu_layer[]> layers;
    size_t layer_bytes = 0;
    uint32_t most = 0; /* most tokens that a head wants in a step, warm-up included */
    gpu_lists wanted, hits;
    gpu_memory queries, out, lse;   /* as in `mini`; queries in bf16 */
    gpu_memory scratch;             /* of attention */
    gpu_memory part_out, part_lse;  /* [2][query_heads]: the GPU's part, the CPU's part */
    pinned_memory staging, answers; /* row numbers and rows; the CPU's part */
    gpu_memory staged;              /* the GPU's copy of staging */
    gpu_memory streamed[2];         /* whole layers */
    gpu_stream main, copies;
    gpu_cold cold;
    gpu_event copied[2], attended[2]; /* of the streamed layers */
    gpu_graphs graphs;                /* of full attention */
    uint32_t splits_whole = 1, splits_wanted = 1;
    std::unique_ptr<gpu_qsac> qsac;
    /* Null until they are started. */
    std::unique_ptr<gpu_lru> lru;
    std::unique_ptr<gpu_activations> activations;

    gpu_mini();
    ~gpu_mini();
    bool create(struct mini *of, struct error *why);
};

/* Copy from the host into memory that the GPU sees. cudaMemcpy() of pageable memory may return
 * before the last bytes arrive, and our streams do not wait for the default one: call
 * cudaDeviceSynchronize() before anything reads the copy. */
bool gpu_copy_in(char *to, const void *from, size_t bytes, struct error *why);
/* The same, into memory that is allocated for it. */
bool gpu_take_copy(gpu_memory *memory, const void *from, size_t bytes, struct error *why);

/* The parameters of attention of (step, layer) to its wanted tokens, without the addresses of K and
 * V. */
struct kernel_attention gpu_attention(const gpu_mini *gpu, uint32_t step, uint32_t layer);
/* The same to all tokens. */
struct kernel_attention gpu_attention_whole(const gpu_mini *gpu, uint32_t step, uint32_t layer);

/* Queue attention of (step, layer) over keys at `rows`, with values after them: to all tokens, or
 * to those of `lists`. It writes to the output, or to the GPU's part if `part`. */
bool gpu_attend(const gpu_mini *gpu, uint32_t step, uint32_t layer, const char *rows,
                const gpu_lists *lists, bool part, struct error *why);

/* A layer's copy to the GPU, into the buffer of `turn`, 0 or 1. */
struct gpu_copy {
    char *to;
    const char *from;
    size_t bytes;
};
typedef gpu_copy (*gpu_copy_of)(gpu_mini *gpu, uint32_t layer, uint32_t turn);
/* Launch the kernels that read that buffer. */
typedef bool (*gpu_use)(gpu_mini *gpu, struct play *play, uint32_t turn, struct error *why);

/* Run a layer of a step whose copy comes a layer ahead, in two buffers by turns. A copy starts when
 * the layer before last, in the same buffer, was attended to. */
bool gpu_run_streamed(gpu_mini *gpu, struct play *play, gpu_copy_of copy_of, gpu_use use,
                      struct error *why);

/* Fill `hits`: the wanted tokens that each head's cache holds, for a cache that never changes. */
bool gpu_list_hits(gpu_mini *gpu, struct error *why);

/* A mechanism on a GPU. A hook may be null. */
struct gpu_program {
    enum miniature_id id;
    /* Launch a layer of a step. */
    bool (*run)(gpu_mini *gpu, struct play *play, struct error *why);
    /* Called before each step, outside of its time; if it streams, for all steps before the first.
     */
    bool (*begin_step)(gpu_mini *gpu, struct play *play, struct error *why) = nullptr;
    /* Called before a sample, after the host's caches were started: sets its state on the GPU. */
    bool (*start)(gpu_mini *gpu, enum miniature_id id, const struct policy_env *env,
                  struct error *why) = nullptr;
    /* Called after each step, while the clock stands: does the policy agree? */
    bool (*end_step)(gpu_mini *gpu, struct play *play, bool *agrees, struct error *why) = nullptr;
    /* Called after the last step. */
    bool (*check)(gpu_mini *gpu, enum miniature_id id, struct error *why) = nullptr;
    /* Can it run on this machine? */
    bool (*can)(const gpu_mini *gpu, enum miniature_id id, struct error *why) = nullptr;
    bool streams = false; /* copies run ahead into the next step */
};

/* The program of a mechanism that runs on a GPU. */
const struct gpu_program *gpu_program_of(enum miniature_id id);

/* Play a sample and write its times to ns[steps][layers]. */
bool gpu_play(gpu_mini *gpu, enum miniature_id id, double *ns, struct mini_counts *counts,
              struct error *why);
