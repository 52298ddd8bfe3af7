/* What predictions for both sites share: a pipe whose engine each fills with a machine of its own,
 * and stages that the programs are made of. Nobody else includes it. */
#ifndef DECODE_MINIATURE_MINIATURE_PIPE_H
#define DECODE_MINIATURE_MINIATURE_PIPE_H

#include "decode/miniature/miniature.h"
#include "decode/time/pipe.h"

/* One mechanism, about to be predicted. */
struct miniature_run {
    const struct miniature *miniature;
    enum miniature_id id;
    const struct miniature_stand_ins *stand_ins;
    struct setup *setup; /* its mechanisms are for the site to fill */
};

/* How a site predicts. */
struct miniature_scene {
    /* The mechanisms, and figures that are no curves in the place of curves. Arrays that these read
     * lie in `figures`. */
    void (*set_up)(const struct miniature_run *run, double figures[8]);
    bool (*machine)(struct pipe *pipe, struct error *why);
    bool (*program)(struct pipe *pipe, enum miniature_id id, struct error *why); /* of a layer */
    bool (*step)(struct pipe *pipe, enum miniature_id id, bool begins,
                 struct error *why); /* or NULL */
    const enum curve_id *curves;     /* read; [curve_count] */
    size_t curve_count;
};
extern const struct miniature_scene miniature_host_scene, miniature_gpu_scene;

/* A curve of one point: `figures` is its size and its value, which outlive it. */
void miniature_figure(struct profile *profile, enum curve_id id, double figures[2]);

/* The caller blocks until `task` is done. */
bool miniature_wait(struct pipe *pipe, engine_task_id task, struct error *why);

/* Stages of a cache that the CPU manages; each leaves what the next one waits for in pipe->at. */
bool miniature_look_up(struct pipe *pipe, uint32_t layer, struct error *why);
bool miniature_gather(struct pipe *pipe, uint32_t layer, struct error *why);
bool miniature_update(struct pipe *pipe, uint32_t layer, struct error *why);
/* The pool attends to `tokens`, of which one head has `worst`. */
bool miniature_attend(struct pipe *pipe, uint32_t layer, uint64_t tokens, uint64_t worst,
                      struct error *why);

/* Attention on a GPU to `tokens` of the current layer, after `after`: its launches, and its
 * kernels. */
bool miniature_attend_launch(struct pipe *pipe, engine_task_id *first, struct error *why);
bool miniature_attend_launched(struct pipe *pipe, uint64_t tokens, engine_task_id first,
                               engine_task_id after, struct error *why);

/* A layer of QSAC that a GPU manages (miniature_qsac.c). */
bool miniature_qsac_layer(struct pipe *pipe, uint32_t layer, struct error *why);

#endif
