/* Putting tasks into the pipeline's schedule.
 *
 * Every kernel is launched first: by the launch thread with a call for each kernel, or as part of
 * the graph of its step. The thread is a resource with a queue: when it blocks in a synchronisation
 * it delays every launch behind it, and when it runs ahead of the GPU it delays nothing.
 */
#pragma once

#include "decode/time/pipe.h"

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

/* CPU time of one launch by the system's software, in ns. */
double work_launch_ns(const struct pipe *pipe, struct trust *trust);

/* Launch `kernels` kernels, each with a call or all by the step's graph. `first` becomes the launch
 * of the first one; the others are launched while it runs. */
bool work_launch(struct pipe *pipe, uint64_t kernels, engine_task_id *first, struct error *why);

/* Let the main stream wait for `after`, as for a CUDA event. */
bool work_put_event(struct pipe *pipe, enum part part, engine_task_id after, struct error *why);

/* Launch `kernels` kernels and run them as one task on the main stream, after `after`. Each takes
 * at least the gap between two kernels. */
bool work_put_kernel(struct pipe *pipe, enum part part, struct kernel kernel, uint64_t kernels,
                     engine_task_id after, engine_task_id *out, struct error *why);

/* The same for kernels that work_launch() has launched. */
bool work_put_launched(struct pipe *pipe, enum part part, struct kernel kernel, uint64_t kernels,
                       engine_task_id first, engine_task_id after, engine_task_id *out,
                       struct error *why);

/* A copy of `bytes` over a way by its copy engine, alone on it; they count as moved. */
struct work work_over(struct pipe *pipe, enum part part, enum way_id way, double bytes);

/* Copy `bytes` to the host, after the last task put on the main stream. */
bool work_put_copy_out(struct pipe *pipe, double bytes, engine_task_id *out, struct error *why);
