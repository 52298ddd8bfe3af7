/* Timing: one pipeline for every system.
 *
 * Each decode step runs the stage table (stages.c) layer by layer. A stage puts a few tasks on
 * resources of the engine:
 *
 *   launch   the thread that launches kernels, blocks in synchronisations, and runs the scheduler
 *   main     the GPU's stream: a step ends with its last task
 *   side     a second stream (SM loads beside the main stream's copies)
 *   in, out  copy engines of the link
 *   pool     the CPU's worker pool: lookup, update, gather
 *   stores   dedicated threads that store into GPU memory
 *   read,    what a drive reads into host memory,
 *   write    and writes out of it
 *
 *   RetroInfer, one layer:
 *   launch |pre|ret|..sync..|est|..wake all, lookup..|wake|hits|att|..update..|adm|post|
 *   pool                        |wake|====lookup=====|    |wake|====update====|
 *   main     |pre|retr|         |est|                     |hits|attend|       |admit|post|
 *   side                                                  |misses|
 *
 * Channels (max-min fair): HBM, SM, DRAM, the link each way and both ways, a drive each way. The
 * same setup, plan and ledger give the same nanoseconds on any machine.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>

#include "core/engine/engine.h"
#include "decode/plan/memory_plan.h"
#include "decode/replay/replay.h"
#include "decode/setup.h"
#include "machine/places.h"

struct stop_flag;

enum part {
#define PART(id, name, what) PART_##id,
#include "decode/time/parts.def"
#undef PART
    PART_COUNT
};
extern const char *const pipeline_part_names[PART_COUNT];

enum { PIPELINE_MOST_DRAWN = 1 << 16 }; /* some 200 MB of tasks */

struct pipeline_step {
    int64_t ns;
    int64_t moved[STEP_WAYS]; /* bytes */
};

struct timing {
    uint32_t steps, layers;
    struct pipeline_step *step;   /* [steps], owned */
    int64_t *layer_ns;            /* [layers]: sum over steps, owned */
    int64_t total_ns;             /* sum over steps */
    int64_t part_ns[PART_COUNT];  /* over all steps; they add up to total_ns */
    int64_t stall_ns[PART_COUNT]; /* over all steps; they add up to the main stream's idle time */
    int64_t cpu_ns; /* over all steps: the launch thread, the pool and storing threads at work */
    int64_t basis_ns[BASIS_COUNT]; /* total_ns, split by the basis of the figures it rests on */
    const char *assumed; /* the assumed figure on which most of total_ns rests; NULL: none */
    int64_t assumed_ns;  /* of total_ns, that rest on it */
    struct trust trust;
    bool exact; /* each figure is that of the schedule with all micro-batches (steady.h) */
};

/* Time all steps of the ledger. `ledger` is NULL when nothing is offloaded; then `plan->steps`
 * equal steps are timed. One more step runs first, so that every reported step starts in a filled
 * pipeline. Of many equal micro-batches only a few are timed (steady.h). Fails with "interrupted"
 * once `stop` is raised; it may be NULL. The caller calls timing_release() after success. */
bool pipeline_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                  const struct stop_flag *stop, struct timing *out, struct error *why);
void timing_release(struct timing *timing);

/* Write reported step `step`, counted from 0, as a Chrome trace, with all its micro-batches; with
 * more than PIPELINE_MOST_DRAWN passes through a layer it is an error. */
bool pipeline_timeline(const struct setup *setup, const struct plan *plan,
                       const struct ledger *ledger, uint32_t step, FILE *out, struct error *why);

/* What the machine does besides decode steps. */
struct pipeline_beside {
    bool prompts;           /* prompts are processed, whatever the setup's `prompt` */
    bool copies;            /* KV is loaded and saved during the steps */
    bool below[TIER_COUNT]; /* and in these tiers below host memory */
    bool launches; /* the CPU launches kernels one by one, in steps with prompts or in all */
};

/* Write the curves that this setup reads to `ids`, for profile_require(); `ids` has room for
 * CURVE_COUNT. Returns their number. */
size_t pipeline_curves(const struct setup *setup, struct pipeline_beside beside,
                       enum curve_id *ids);

/* One layer of a schedule: what each resource does meanwhile, what the layer's time consists of,
 * and what it rests on.
 *
 * A layer lasts from the end of the layer before on the main stream to its own end there. Whatever
 * runs meanwhile has a bar, also work in the passes of other layers, such as launches ahead of
 * time; what runs beyond either end is cut there. */

enum { LAYER_RESOURCES = 10 }; /* those of pipeline.h, and none */

/* Work of one stage that a resource does without a pause. */
struct layer_bar {
    engine_task_id task;  /* its first task */
    const char *stage;    /* static */
    const char *resource; /* static; NULL: work that occupies no resource, such as a signal */
    uint32_t resource_id; /* below LAYER_RESOURCES; in the order of pipeline.h, then none */
    uint32_t layer;       /* in whose pass the stage is; the number of layers: in none. A
                             fetch ahead of time is in the pass of the layer before */
    uint32_t micro_batch;
    enum part part;
    int64_t begin_ns, end_ns;      /* since the layer began */
    int64_t path_ns;               /* as much of it is on the critical path */
    int64_t basis_ns[BASIS_COUNT]; /* all of it, by the basis of the figures it rests on */
};

struct layer_schedule {
    struct layer_bar *bars; /* [count] by begin, then by resource; owned */
    uint32_t count;
    uint32_t layers;               /* of the model */
    int64_t ns;                    /* the layer's time: the sum of all path_ns */
    int64_t basis_ns[BASIS_COUNT]; /* the critical path, by basis; adds up to ns, too */
};

/* Build the schedule and take layer `layer` of reported step `step` out of it, both counted from 0.
 * `layer` must be below plan->layers and `step` below plan->steps. The caller calls
 * layer_schedule_release() after success. */
bool pipeline_layer(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                    uint32_t step, uint32_t layer, struct layer_schedule *out, struct error *why);
void layer_schedule_release(struct layer_schedule *schedule);
