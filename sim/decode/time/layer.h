/* One layer of a schedule: what each resource does meanwhile, what the layer's time consists of,
 * and what it rests on.
 *
 * A layer lasts from the end of the layer before on the main stream to its own end there. Whatever
 * runs meanwhile has a bar, also work in the passes of other layers, such as launches ahead of
 * time; what runs beyond either end is cut there. */
#pragma once

#include "decode/time/pipeline.h"

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
