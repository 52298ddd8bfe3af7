/* Putting tasks into the pipeline's schedule.
 *
 * Every kernel is launched first: by the launch thread, one call a kernel, or once a step as part
 * of a graph. The thread is a queue of its own, so that a thread which blocks in a synchronisation
 * holds up every launch behind it, and one that is ahead holds up nothing.
 */
#ifndef DECODE_TIME_WORK_H
#define DECODE_TIME_WORK_H

#include "decode/time/pipe.h"

#define WORK_MOST_AFTER 4

/* One task to put. */
struct work {
    enum part part;
    enum pipe_resource resource;
    double fixed_ns;
    double bytes; /* to move after that, at most at `rate` */
    double rate;  /* bytes a nanosecond */
    enum pipe_route route;
    engine_task_id after[WORK_MOST_AFTER];
    uint32_t after_count;
    struct trust fixed_trust, rate_trust; /* of fixed_ns and of `rate` */
};

/* Nothing read yet: what a task's trust starts from. */
extern const struct trust work_trust;

/* A task that takes no time and moves nothing yet. */
struct work work_of(enum part part, enum pipe_resource resource);

/* Let `work` wait for `task`; ENGINE_NONE is nothing to wait for. */
void work_wait_for(struct work *work, engine_task_id task);

/* Put it, marked with the pipe's step, layer and stage. `out` may be NULL. */
bool work_put(struct pipe *pipe, const struct work *work, engine_task_id *out, struct error *why);

/* Time on the launch thread, after `after`. */
bool work_put_thread(struct pipe *pipe, enum part part, double ns, engine_task_id after,
                     struct trust trust, engine_task_id *out, struct error *why);

/* One call a kernel, or the step's graph. `first` is what the first kernel waits for: the others
 * are launched while it runs. */
bool work_launch(struct pipe *pipe, uint64_t kernels, engine_task_id *first, struct error *why);

/* Let the main stream wait for `after`, as for an event. */
bool work_put_event(struct pipe *pipe, enum part part, engine_task_id after, struct error *why);

/* Launch `kernels` kernels and run them as one task on the main stream, after `after`. Each takes
 * at least the gap between two kernels. */
bool work_put_kernel(struct pipe *pipe, enum part part, struct kernel kernel, uint64_t kernels,
                     engine_task_id after, engine_task_id *out, struct error *why);

/* The same of kernels that work_launch() has launched. */
bool work_put_launched(struct pipe *pipe, enum part part, struct kernel kernel, uint64_t kernels,
                       engine_task_id first, engine_task_id after, engine_task_id *out,
                       struct error *why);

/* Copy `bytes` to the host, once the main stream is where it now ends. */
bool work_put_copy_out(struct pipe *pipe, double bytes, engine_task_id *out, struct error *why);

#endif
