/* Reading the schedule: how long each step took, what it was spent on, where the main stream
 * waited.
 *
 * A step is the time between the ends of two steps' last kernels on the main stream. Its parts are
 * the pieces of the walk back over binding predecessors, its stalls those pieces of the walk that
 * lie in gaps of the main stream; both add up exactly. */
#include "decode/pipe.h"

#include "base/array.h"
#include "engine/critical_path.h"

#include <stdlib.h>
#include <string.h>

static int64_t end_of(const struct pipe *pipe, engine_task_id task)
{
    return engine_task_record(pipe->engine, task)->end_ns;
}

static const struct pipe_mark *mark_of(const struct pipe *pipe, engine_task_id task)
{
    return &pipe->marks[engine_task_record(pipe->engine, task)->tag];
}

/* Where the pieces of a walk go. */
struct sums {
    const struct pipe *pipe;
    int64_t *part_ns;  /* [PART_COUNT] */
    int64_t *basis_ns; /* [BASIS_COUNT], or NULL */
};

/* Nothing is waited for without a task: no task of the pipeline has a release time. */
static void add_piece(engine_task_id task, int64_t begin_ns, int64_t end_ns, void *context)
{
    struct sums *sums = context;
    const struct pipe_mark *mark = mark_of(sums->pipe, task);
    sums->part_ns[mark->part] += end_ns - begin_ns;
    if (sums->basis_ns != NULL) {
        sums->basis_ns[mark->trust.basis] += end_ns - begin_ns;
    }
}

/* The gaps of the main stream within reported steps, each by what its end waited for. */
static void read_stalls(const struct pipe *pipe, struct timing *out)
{
    struct sums sums = {pipe, out->stall_ns, NULL};
    int64_t last_end = end_of(pipe, pipe->step_end[0]);
    for (engine_task_id task = pipe->step_end[0] + 1; task < engine_task_count(pipe->engine);
         task++) {
        const struct engine_record *record = engine_task_record(pipe->engine, task);
        if (record->resource != pipe->resource[PIPE_MAIN]) {
            continue;
        }
        if (record->start_ns > last_end) {
            critical_path_walk(pipe->engine, record->binding, last_end, add_piece, &sums);
        }
        last_end = record->end_ns;
    }
}

static void read_steps(const struct pipe *pipe, struct timing *out)
{
    struct sums sums = {pipe, out->part_ns, out->basis_ns};
    for (uint32_t s = 1; s < pipe->steps; s++) {
        int64_t from = end_of(pipe, pipe->step_end[s - 1]);
        out->step[s - 1] = pipe->moved[s];
        out->step[s - 1].ns = end_of(pipe, pipe->step_end[s]) - from;
        out->total_ns += out->step[s - 1].ns;
        critical_path_walk(pipe->engine, pipe->step_end[s], from, add_piece, &sums);
    }
}

/* A layer lasts from the end of the one before to its own; the first from the start of its first
 * kernel. */
static void read_layers(const struct pipe *pipe, struct timing *out)
{
    for (uint32_t s = 1; s < pipe->steps; s++) {
        engine_task_id first = pipe->step_end[s - 1] + 1;
        while (engine_task_record(pipe->engine, first)->resource != pipe->resource[PIPE_MAIN]) {
            first++;
        }
        int64_t from = engine_task_record(pipe->engine, first)->start_ns;
        for (uint32_t l = 0; l < out->layers; l++) {
            int64_t to = end_of(pipe, pipe->layer_end[(size_t)s * out->layers + l]);
            out->layer_ns[l] += to - from;
            from = to;
        }
    }
}

static void read_trust(const struct pipe *pipe, struct timing *out)
{
    out->trust = pipe->kernel_trust;
    for (size_t i = 0; i < pipe->mark_count; i++) {
        trust_add(&out->trust, pipe->marks[i].trust);
    }
}

bool timing_read(const struct pipe *pipe, struct timing *out, struct error *why)
{
    out->steps = pipe->steps - 1;
    out->layers = pipe->plan->layers;
    out->step = array_zeroed(out->steps, sizeof *out->step, why);
    out->layer_ns = array_zeroed(out->layers, sizeof *out->layer_ns, why);
    if (out->step == NULL || out->layer_ns == NULL) {
        return false;
    }
    read_steps(pipe, out);
    read_stalls(pipe, out);
    read_layers(pipe, out);
    read_trust(pipe, out);
    return true;
}

void timing_release(struct timing *timing)
{
    free(timing->step);
    free(timing->layer_ns);
    timing->step = NULL;
    timing->layer_ns = NULL;
}
