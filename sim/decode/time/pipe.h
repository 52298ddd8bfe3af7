/* The pipeline under construction: resources, channels, and what each layer waits for.
 *
 * Private to the files that build and read a schedule: those of this folder and of miniature/. */
#pragma once

#include "core/array.h"
#include "decode/cost/cost.h"
#include "decode/mechanism_values.h"
#include "decode/time/pipeline.h"

enum pipe_resource {
    PIPE_LAUNCH,
    PIPE_MAIN,
    PIPE_SIDE,
    PIPE_IN,  /* the copy engines of WAY_IN */
    PIPE_OUT, /* and of WAY_OUT */
    PIPE_POOL,
    PIPE_STORES,
    PIPE_READ,  /* of a drive, into host memory */
    PIPE_WRITE, /* and out of it */
    PIPE_RESOURCE_COUNT,
    PIPE_NO_QUEUE = PIPE_RESOURCE_COUNT /* a latency that occupies no resource */
};

/* The channels that each kind of work uses. */
enum pipe_route {
    ROUTE_KERNEL,    /* HBM, and the SMs in proportion to its speed */
    ROUTE_ZERO_COPY, /* link, DRAM, HBM; withholds a share of the SMs */
    ROUTE_IN_PLACE,  /* link, DRAM */
    ROUTE_COPY_IN,   /* link, DRAM, HBM */
    ROUTE_COPY_OUT,  /* the same, the other way */
    ROUTE_GATHER,    /* DRAM, read and written */
    ROUTE_CPU_READ,  /* DRAM, read */
    ROUTE_DISK_READ, /* the drive, DRAM */
    ROUTE_DISK_WRITE,
    ROUTE_COUNT
};

/* What a task belongs to. `layer` is the number of layers for tasks of the step itself. */
struct pipe_mark {
    uint32_t step, layer, micro_batch;
    enum stage_half halves; /* of the layer */
    const char *stage;      /* static */
    enum part part;
    int64_t fixed_ns;                     /* before it moves bytes */
    int64_t alone_ns;                     /* all its time if no flow shares its channels */
    struct trust fixed_trust, rate_trust; /* of the fixed time, and of the rate of its bytes */
};

/* For each layer, the tasks that later stages wait for; ENGINE_NONE when there are none. When the
 * task has ended, ... */
struct pipe_layer {
    engine_task_id indexed;   /* the index is in HBM */
    engine_task_id filled;    /* the blocks that the last step admitted are in HBM */
    engine_task_id selected;  /* the indices are where they are needed; or the query, on the host */
    engine_task_id looked_up; /* hits and misses are known */
    engine_task_id at_hand;   /* the missed KV is where the transfer takes it from */
    engine_task_id fetched;   /* the missed KV is in HBM */
    engine_task_id attended;  /* the buffer of the KV is free */
    engine_task_id updated;   /* the cache is updated; none if no kernel waits for that */
    engine_task_id answered;  /* the GPU can read the CPU's share of attention */
};

/* Weights and whole KV, which are loaded in a known order, one slot ahead of their use (stream.h).
 * Each has two buffers; the n-th load uses entry n % 2. */
struct pipe_stream {
    uint32_t weights_now, slot_now; /* the loads in use */
    engine_task_id weights[2];      /* the weights of a layer, or half of one, are loaded */
    engine_task_id weights_freed;   /* the buffer for the next weights is free */
    engine_task_id loaded[2];       /* the whole KV of a slot is loaded */
    engine_task_id attended[2];     /* the slot's buffer is free */
};

struct pipe {
    struct arrays arrays; /* of all that is not `marks` */
    const struct setup *setup;
    const struct mechanisms *mechanisms; /* the setup's */
    struct setup *setups;                /* [cohorts] the setup at the cohort's context */
    const struct plan *plan;
    const struct ledger *ledger;  /* NULL: nothing is offloaded */
    const struct stop_flag *stop; /* NULL: nothing ends the work early */
    struct engine *engine;
    uint32_t resource[PIPE_RESOURCE_COUNT + 1]; /* engine ids; PIPE_NO_QUEUE has ENGINE_NONE */
    uint32_t route[ROUTE_COUNT];

    /* Costs of the model's stages: [layers * micro-batches]. All steps share them; with a
     * selection margin attention is computed anew each step, from the ledger. */
    struct kernel *kernels[MODEL_EDGE];
    struct kernel edge;         /* embedding, norm and head */
    struct trust channel_trust; /* of the channels' capacities */

    double head_bytes; /* K and V of one token of one KV head */
    double link_bytes; /* of these, what lies on the host and crosses (keys_host_share()) */

    /* Construction. */
    uint32_t step, layer, micro_batch;
    enum stage_half halves; /* the part of the layer under construction */
    const char *stage;
    engine_task_id graph;                     /* the launch of this step's graph */
    engine_task_id last[PIPE_RESOURCE_COUNT]; /* the last task put on each resource */
    struct pipe_layer *at;                    /* [layers] */
    struct pipe_stream stream;
    engine_task_id answers[2]; /* of the CPU, to micro-batches that alternate (hybrid.h) */

    /* The schedule. Step 0 is not reported: it fills the pipeline. */
    uint32_t steps;          /* reported steps + 1 */
    struct pipe_mark *marks; /* [mark_count] one for each task, owned */
    size_t mark_count, mark_capacity;
    engine_task_id *step_end;    /* [steps] the last main task */
    engine_task_id *layer_end;   /* [steps * layers] */
    struct pipeline_step *moved; /* [steps] bytes on the link */
};

/* A figure of the machine, in its curve's unit; `trust` is lowered to the curve's. */
static inline double pipe_figure(const struct pipe *pipe, enum curve_id id, double size,
                                 struct trust *trust)
{
    return profile_value(&pipe->setup->profile, id, size, trust);
}

/* Create pipe->engine with the machine on it: resources, channels, routes. pipe_release() always frees it. */
bool machine_add(struct pipe *pipe, struct error *why);

/* A pipeline without a task; the caller allocates what its stages need. */
void pipe_begin(struct pipe *pipe, const struct setup *setup, const struct plan *plan,
                const struct ledger *ledger, const struct stop_flag *stop);

/* Build the whole schedule and run it; pipe_release() frees it, also after a failure. */
bool pipe_build(struct pipe *pipe, const struct setup *setup, const struct plan *plan,
                const struct ledger *ledger, const struct stop_flag *stop, struct error *why);
void pipe_release(struct pipe *pipe);

/* The same for a prefill (prefill.h), which ends with the task that prefill_last() returns. */
bool prefill_build(struct pipe *pipe, const struct setup *setup, const struct plan *plan,
                   const struct ledger *ledger, const struct stop_flag *stop, struct error *why);
engine_task_id prefill_last(const struct pipe *pipe);

/* The ledger row of the current step and `layer`; NULL when the layer offloads nothing. */
const struct ledger_row *pipe_row(const struct pipe *pipe, uint32_t layer);

/* The same row for one cohort. Only where pipe_row() is not NULL. */
const struct ledger_row *pipe_part(const struct pipe *pipe, uint32_t cohort, uint32_t layer);

/* The sum over a layer's pairs if each had as much as one of the busiest cohort, with which all end. */
double pipe_even(const struct pipe *pipe, uint32_t layer, size_t amount);

/* The amount of a row that lies at this offset, such as ROW_AMOUNT(hit). */
#define ROW_AMOUNT(member) offsetof(struct ledger_row, member)
static inline double row_amount(const struct ledger_row *row, size_t amount)
{
    return (double)*(const uint64_t *)(const void *)((const char *)row + amount);
}

/* Sequences of the current micro-batch; and [cohorts] those of each cohort. */
uint32_t pipe_sequences(const struct pipe *pipe);
const uint32_t *pipe_cohorts(const struct pipe *pipe);

/* Make `at`, in which no layer has a task. */
bool pipe_layers(struct pipe *pipe, struct error *why);

/* Fill `setups`; pipe_release() frees them. */
bool pipe_setups(struct pipe *pipe, struct error *why);

/* A row of the stage table, in the passes over its half of the layer. A stage of a fetch is emitted for each
 * of fetch_targets(), any other for the current layer. */
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

/* A stage that a prefill has, too: the system's `micro_batch_overhead`. */
bool stage_overhead(struct pipe *pipe, uint32_t layer, struct error *why);

/* The trust of the whole schedule. */
struct trust pipe_trust(const struct pipe *pipe);

/* The resource that the engine knows by this id. */
enum pipe_resource timing_place(const struct pipe *pipe, uint32_t resource);

/* Putting tasks into the pipeline's schedule. Every kernel is launched first: by the launch thread with a
 * call for each kernel, or as part of the graph of its step. The thread is a resource with a queue: when it
 * blocks in a synchronisation it delays every launch behind it, and when it runs ahead of the GPU it delays
 * nothing. */

#define WORK_MOST_AFTER 6

/* One task to put. */
struct work {
    enum part part;
    enum pipe_resource resource;
    double fixed_ns;
    double bytes; /* moved after fixed_ns, at most at `rate` */
    double rate;  /* bytes a nanosecond */
    enum pipe_route route;
    engine_task_id after[WORK_MOST_AFTER];
    uint32_t after_count;
    struct trust fixed_trust, rate_trust; /* of fixed_ns and of `rate` */
};

/* The trust of a task before it has read any curve. */
extern const struct trust work_trust;

/* A task that takes no time and moves nothing yet. */
struct work work_of(enum part part, enum pipe_resource resource);

/* Let `work` wait for `task`; ENGINE_NONE changes nothing. At most WORK_MOST_AFTER tasks. */
void work_wait_for(struct work *work, engine_task_id task);

/* Put the task, marked with the pipe's step, layer and stage. `out` may be NULL. */
bool work_put(struct pipe *pipe, const struct work *work, engine_task_id *out, struct error *why);

/* Occupy the launch thread for `ns`, after `after`. With 0 ns it only blocks until `after` ends. */
bool work_put_thread(struct pipe *pipe, enum part part, double ns, engine_task_id after,
                     struct trust trust, engine_task_id *out, struct error *why);

/* The same for `times` as long as a call of the host takes by this figure. */
bool work_put_call(struct pipe *pipe, enum part part, enum curve_id id, double times,
                   engine_task_id after, engine_task_id *out, struct error *why);

/* The other processor sees a flag that is set after `after`; nobody else waits for it. */
bool work_put_flag(struct pipe *pipe, engine_task_id after, engine_task_id *out, struct error *why);

/* CPU time of one launch by the system's software, in ns. */
double work_launch_ns(const struct pipe *pipe, struct trust *trust);

/* Launch `kernels` kernels, each with a call or all by the step's graph. `first` becomes the launch
 * of the first one; the others are launched while it runs. */
bool work_launch(struct pipe *pipe, uint64_t kernels, engine_task_id *first, struct error *why);

/* Let the main stream wait for `after`, as for a CUDA event. */
bool work_put_event(struct pipe *pipe, enum part part, engine_task_id after, struct error *why);

/* Launch `kernels` kernels and run them as one task on the main stream, after `after`, none below the gap. */
bool work_put_kernel(struct pipe *pipe, enum part part, struct kernel kernel, uint64_t kernels,
                     engine_task_id after, engine_task_id *out, struct error *why);

bool work_put_launched(struct pipe *pipe, enum part part, struct kernel kernel, uint64_t kernels,
                       engine_task_id first, engine_task_id after, engine_task_id *out,
                       struct error *why);

/* A copy of `bytes` over a way by its copy engine, alone on it; they count as moved. */
struct work work_over(struct pipe *pipe, enum part part, enum way_id way, double bytes);

/* Copy `bytes` to the host, after the last task put on the main stream. */
bool work_put_copy_out(struct pipe *pipe, double bytes, engine_task_id *out, struct error *why);
