/* A miniature decode runtime on the host: it runs what decode/miniature/miniature.h predicts.
 *
 * It has real buffers (KV, caches, a staging buffer), the pool, gather and attention that calibrate
 * measures, random KV and queries of a model's true shapes, and the demands of a trace, which go
 * through the simulator's own policies. A sample plays all steps of all layers once, from the state
 * of the caches after the warm-up.
 *
 * Before each layer, while the clock stands, the CPUs' caches are filled with other data. In a full
 * model the layers that a miniature leaves out would do that. On a GPU, its L2 is filled, too,
 * before each step, because the layers of a step are queued together (gpu_cold.h).
 *
 * Every sample is checked. Before it, each row that it will want is made NaN in the cache unless
 * the policy holds it, so that a token that is attended to but was not fetched shows. After it,
 * outputs are compared with attention to the same tokens in double precision (check.h), and hits
 * with the policy's own count.
 *
 *   host/head  what a head wants, what its cache holds
 *   program    the mechanisms of a host; stages in play.h
 *   host       the runtime of a host
 *   made       activations, from which K and V are made
 *   check      the expected outputs
 *   measure    spec in, samples taken, JSON lines out
 *
 * On a GPU (gpu.h) the same buffers hold the host's data, and outputs are copied back to be checked
 * here. struct mini_runtime is the interface of the host's and the GPU's runtime.
 */
#pragma once

#include "core/units.h"
#include "calibrate/host/attention.h"
#include "calibrate/host/buffer.h"
#include "calibrate/host/head.h"
#include "calibrate/host/pool.h"
#include "calibrate/mini/made.h"
#include "decode/miniature/miniature.h"

#include <stdio.h>

/* Rows of keys [kv_heads][context], then as many of values. */
struct mini_layer {
    struct buffer kv;    /* all tokens */
    struct buffer cache; /* those that were copied, each at its place */
};

struct mini {
    struct miniature shape;
    struct attention_shape attention;
    size_t row_bytes;   /* of a key, or of a value */
    uint32_t row_count; /* of a layer's keys */
    struct mini_layer *layers;
    struct mini_head *heads;   /* [layers][kv_heads] */
    struct buffer staging;     /* room for a layer's rows, all wanted */
    struct buffer streamed[2]; /* room for a layer's KV */
    uint32_t *rows;            /* of a layer, that are gathered and copied: keys, then values */
    struct pool *pools[2];     /* [1] leaves a CPU free for the stand-in that runs beside it */
    struct pool *link, *gpu;   /* threads that stand for the copy engine and the GPU */
    struct pool *others;       /* threads that fill the CPUs' caches with `elsewhere` */
    struct buffer elsewhere;   /* more than the caches of the CPUs hold */
    float *queries;            /* [steps][layers][query_heads][head_dim] */
    float *out, *lse;          /* the same; without head_dim */
    float *part, *part_lse;    /* of a layer: of the misses alone */
    struct mini_made made;     /* of a GPU */
    struct attention_head *attended; /* [2][kv_heads] of a layer: by the stand-in, by the pool */
};

/* Can a miniature of this shape run with this trace on this machine? */
bool mini_can(const struct miniature *shape, const struct trace *trace, struct error *why);

/* Also fails if mini_can() does. The caller releases it, on failure too. */
bool mini_init(struct mini *mini, const struct miniature *shape, const struct trace *trace,
               struct error *why);
void mini_release(struct mini *mini);

static inline struct mini_head *mini_heads(const struct mini *mini, uint32_t layer)
{
    return &mini->heads[(size_t)layer * mini->shape.kv_heads];
}

/* The index of the first query head of (step, layer) in `lse`; times head_dim, in `queries` and
 * `out`. */
static inline size_t mini_place(const struct mini *mini, uint32_t step, uint32_t layer)
{
    return ((size_t)step * mini->shape.layers + layer) * mini->shape.query_heads;
}

/* The results of a sample, besides its time. */
struct mini_counts {
    uint64_t wanted, missed; /* tokens */
    bool agrees;             /* the policy counted as many hits as were found */
};

/* Play all steps once, and write the time of each layer to ns[steps][layers]. To be called after
 * mini_start(). */
void mini_play(struct mini *mini, enum miniature_id id, double *ns, struct mini_counts *counts);

/* Warm the caches, and make all rows NaN that no cache holds. */
bool mini_start(struct mini *mini, enum miniature_id id, const struct policy_env *env,
                struct error *why);

/* Rates in bytes/s: the thread that stands for the copy engine copies a whole layer, or the wanted
 * rows of a layer, gathered just before; the thread that stands for the GPU attends to a whole
 * layer. */
double mini_copy_whole(struct mini *mini, uint32_t layer);
double mini_copy_rows(struct mini *mini, uint32_t layer);
double mini_attend_whole(struct mini *mini, uint32_t layer);

/* A part of a runtime that is measured alone: its figure, unit, and probe. The probe's state is the
 * runtime. */
struct mini_stand_in {
    const char *name;
    enum unit unit;
    bool (*sample)(void *runtime, double *value, struct error *why);
};

struct mini_runtime {
    /* Its state besides `mini`, which outlives it; NULL on failure. */
    void *(*create)(struct mini *mini, struct error *why);
    void (*destroy)(void *runtime);
    /* Can this machine run it? NULL: it can run all. */
    bool (*can)(const void *runtime, enum miniature_id id, struct error *why);
    bool (*start)(void *runtime, enum miniature_id id, const struct policy_env *env,
                  struct error *why);
    /* As mini_play(); outputs are in mini->out afterwards. */
    bool (*play)(void *runtime, enum miniature_id id, double *ns, struct mini_counts *counts,
                 struct error *why);
    const struct mini_stand_in *stand_ins; /* [stand_in_count] */
    uint32_t stand_in_count;
};
extern const struct mini_runtime mini_host_runtime;

/* NULL, with the reason, if no GPU can be used. */
const struct mini_runtime *mini_gpu_runtime(struct error *why);

/* What broke earlier runs, in memory that outlives a run. */
struct mini_broken {
    int running;                       /* the mechanism that runs now; -1: none */
    double since_ns;                   /* when its sample began, by clock_ns(); 0: none runs */
    char reason[MINIATURE_COUNT][256]; /* why a mechanism is left out; empty if it is not */
};

/* The seconds for samples that `spec` states. */
bool mini_seconds(const char *spec, double *seconds, struct error *why);

/* Run all mechanisms as `spec` says (measure.c), except those in `broken`, and write their times.
 * If a mechanism fails, or ends the process, `broken->running` says which. */
bool mini_measure(const char *spec, struct mini_broken *broken, FILE *out, struct error *why);
