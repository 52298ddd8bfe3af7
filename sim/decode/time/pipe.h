/* The pipeline under construction: resources, channels, and what each layer waits for.
 *
 * Shared by the files that build and read a schedule (work.c, fetch.c, stages.c, pipeline.c,
 * timing.c, prefill.c); nobody else includes it.
 */
#ifndef DECODE_TIME_PIPE_H
#define DECODE_TIME_PIPE_H

#include "decode/cost/cost.h"
#include "decode/cost/streamed_weights.h"
#include "decode/time/pipeline.h"

enum pipe_resource {
    PIPE_LAUNCH,
    PIPE_MAIN,
    PIPE_SIDE,
    PIPE_H2D,
    PIPE_D2H,
    PIPE_POOL,
    PIPE_STORES,
    PIPE_RESOURCE_COUNT,
    PIPE_NO_QUEUE = PIPE_RESOURCE_COUNT /* a latency: nothing is occupied */
};

/* Which channels each kind of work crosses. */
enum pipe_route {
    ROUTE_KERNEL,    /* HBM, and the SMs in proportion to its speed */
    ROUTE_ZERO_COPY, /* link, DRAM, HBM; withholds a share of the SMs */
    ROUTE_COPY_IN,   /* link, DRAM, HBM */
    ROUTE_COPY_OUT,  /* the same, the other way */
    ROUTE_GATHER,    /* DRAM, read and written */
    ROUTE_CPU_READ,  /* DRAM, read */
    ROUTE_COUNT
};

/* Where a task stands: `layer` = layers for what belongs to the step. */
struct pipe_mark {
    uint32_t step, layer, micro_batch;
    const char *stage; /* static */
    enum part part;
    int64_t fixed_ns,
        alone_ns; /* its service before it moves bytes, and all of it without sharing */
    struct trust fixed_trust, rate_trust; /* what these two parts rest on */
};

/* Tasks of a layer that later stages wait for; ENGINE_NONE when there are none. */
struct pipe_layer {
    engine_task_id indexed;   /* the index, in HBM */
    engine_task_id filled;    /* the blocks that the last step admitted, in HBM */
    engine_task_id selected;  /* indices, on the side that needs them; or the query, on the host */
    engine_task_id looked_up; /* which of them hit */
    engine_task_id fetched;   /* the missed KV, in HBM */
    engine_task_id attended;  /* its buffer is free */
    engine_task_id updated;   /* the cache's update, where the layer waits for it */
    engine_task_id answered;  /* the CPU's share of attention, where the GPU reads it */
};

/* What comes in a known order, a slot ahead of its use (stream.h). Two buffers of each: entry n % 2
 * is that of the n-th. */
struct pipe_stream {
    uint32_t weights_now, slot_now;
    engine_task_id weights[2];    /* loaded: of a layer, or half of one */
    engine_task_id weights_freed; /* the buffer to load into */
    engine_task_id loaded[2];     /* the whole KV of a slot: a micro-batch's attention in a layer */
    engine_task_id attended[2];   /* a slot's: its buffer is free */
};

struct pipe {
    const struct setup *setup;
    const struct mechanisms *mechanisms; /* the setup's */
    struct setup *setups; /* [cohorts] the setup at the context of each, owned */
    const struct plan *plan;
    const struct ledger *ledger; /* NULL: nothing is offloaded */
    struct engine *engine;
    uint32_t resource[PIPE_RESOURCE_COUNT + 1]; /* engine ids; PIPE_NO_QUEUE is none */
    uint32_t route[ROUTE_COUNT];

    /* Costs that no step changes, but attention's where a ledger says to how much: [layers *
     * micro-batches], owned; and the edge's. */
    struct kernel *kernels[MODEL_EDGE];
    struct kernel edge;
    struct trust channel_trust; /* of the channels' capacities */

    double head_bytes; /* K and V of one token of one KV head */

    /* Construction. */
    uint32_t step, layer, micro_batch;
    enum stage_half halves; /* of the layer, that are passed now */
    const char *stage;
    engine_task_id graph;                     /* the launch of this step's graph */
    engine_task_id last[PIPE_RESOURCE_COUNT]; /* put on each */
    struct pipe_layer *at;                    /* [layers], owned */
    struct pipe_stream stream;

    /* The schedule. Step 0 is not reported: it fills the pipeline. */
    uint32_t steps;          /* reported steps and one */
    struct pipe_mark *marks; /* one a task, owned */
    size_t mark_count, mark_capacity;
    engine_task_id *step_end;    /* [steps], owned: the last main task */
    engine_task_id *layer_end;   /* [steps * layers], owned */
    struct pipeline_step *moved; /* [steps], owned: bytes on the link */
};

/* A figure of the machine, in its curve's unit; `trust` is worsened by what it rests on. */
static inline double pipe_figure(const struct pipe *pipe, enum curve_id id, double size,
                                 struct trust *trust)
{
    return profile_value(&pipe->setup->profile, id, size, trust);
}

/* Build the whole schedule and run it; pipe_release() frees it, also after a failure. */
bool pipe_build(struct pipe *pipe, const struct setup *setup, const struct plan *plan,
                const struct ledger *ledger, struct error *why);
void pipe_release(struct pipe *pipe);

/* The ledger row of the current step and `layer`; NULL when the layer offloads nothing. */
const struct ledger_row *pipe_row(const struct pipe *pipe, uint32_t layer);

/* The same of a cohort's sequences; where there is none of the whole, there is none of a part. */
const struct ledger_row *pipe_part(const struct pipe *pipe, uint32_t cohort, uint32_t layer);

/* What all pairs of a layer would come to if each had as much as those of the cohort that has most:
 * where pairs are worked on side by side, the longest ones decide. `of` counts a row. */
double pipe_even(const struct pipe *pipe, uint32_t layer,
                 double (*of)(const struct ledger_row *row));

/* Sequences of the micro-batch that passes now, and those of each cohort. */
uint32_t pipe_sequences(const struct pipe *pipe);
const uint32_t *pipe_cohorts(const struct pipe *pipe);

/* Fill `setups`; pipe_release() frees them. */
bool pipe_setups(struct pipe *pipe, struct error *why);

/* A row of the stage table. A stage of a fetch is emitted for each layer whose KV is asked for
 * here (this layer, the next one, both or none), any other for the current layer; each in the
 * passes over its half of the layer. */
struct stage {
    const char *name;
    bool of_fetch;
    enum stage_half halves;
    bool (*emit)(struct pipe *pipe, uint32_t layer, struct error *why); /* may put nothing */
};
extern const struct stage layer_stages[]; /* ends with name NULL */

/* Before layer 0 of a step, and after its last layer. */
bool stage_begin_step(struct pipe *pipe, struct error *why);
bool stage_end_step(struct pipe *pipe, struct error *why);

/* Stages of a prefill too: what a micro-batch costs besides, found out by whoever measured one; and
 * two all-reduces of the hidden states of `rows` tokens, after attention and after the FFN, as one
 * task. */
bool stage_overhead(struct pipe *pipe, uint32_t layer, struct error *why);
bool stage_collective(struct pipe *pipe, uint64_t rows, struct error *why);

/* What the whole schedule rests on. */
struct trust pipe_trust(const struct pipe *pipe);

/* Read the finished schedule into `out`. */
bool timing_read(const struct pipe *pipe, struct timing *out, struct error *why);

#endif
