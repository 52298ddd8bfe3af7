/* Shared by the predictions for both sites, and private to this folder: a pipe, which each site
 * gives its own machine, and the stages that their programs consist of. */
#pragma once

#include "decode/miniature/miniature.h"
#include "decode/time/pipe.h"

/* The prediction of one mechanism. */
struct miniature_run {
    const struct miniature *miniature;
    enum miniature_id id;
    const struct miniature_stand_ins *stand_ins;
    struct setup *setup; /* the site fills its mechanisms */
};

/* How a site predicts. */
struct miniature_scene {
    /* Set the mechanisms, and replace curves by figures of the stand-ins. These curves point into
     * `figures`, which outlives the run. */
    void (*set_up)(const struct miniature_run *run, double figures[8]);
    bool (*machine)(struct pipe *pipe, struct error *why);                       /* add resources */
    bool (*program)(struct pipe *pipe, enum miniature_id id, struct error *why); /* put a layer */
    bool (*step)(struct pipe *pipe, enum miniature_id id, bool begins,
                 struct error *why); /* begin or end a step; or NULL */
    const enum curve_id *curves;     /* [curve_count] that predictions read */
    size_t curve_count;
};
extern const struct miniature_scene miniature_host_scene, miniature_gpu_scene;

/* Set a curve of one point: `figures` is its size and its value, which outlive the profile. */
void miniature_figure(struct profile *profile, enum curve_id id, double figures[2]);

/* The launch thread blocks until `task` ends. */
bool miniature_wait(struct pipe *pipe, engine_task_id task, struct error *why);

/* Stages of a cache that the CPU manages. Each sets in pipe->at what the next one needs. */
bool miniature_look_up(struct pipe *pipe, uint32_t layer, struct error *why);
bool miniature_gather(struct pipe *pipe, uint32_t layer, struct error *why);
bool miniature_update(struct pipe *pipe, uint32_t layer, struct error *why);
/* The pool attends to `tokens`; the head with most has `worst` of them. */
bool miniature_attend(struct pipe *pipe, uint32_t layer, uint64_t tokens, uint64_t worst,
                      struct error *why);

/* Attention on a GPU to `tokens` of the current layer, after `after`: first its launches, then its
 * kernels. */
bool miniature_attend_launch(struct pipe *pipe, engine_task_id *first, struct error *why);
bool miniature_attend_launched(struct pipe *pipe, uint64_t tokens, engine_task_id first,
                               engine_task_id after, struct error *why);

/* A layer of QSAC with labels on the GPU (miniature_qsac.c). */
bool miniature_qsac_layer(struct pipe *pipe, uint32_t layer, struct error *why);
