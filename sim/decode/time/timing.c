/* Reading the schedule: the time of each step, its parts, and the stalls of the main stream. A step is the
 * time between the ends of two steps' last kernels on the main stream. Its parts are the pieces of the walk
 * back over binding predecessors; its stalls are the pieces of walks that fill the gaps of the main stream.
 * Both add up exactly. */

#include "decode/time/steady.h"

#include <stdlib.h>
#include <string.h>

static int64_t end_of(const struct pipe *pipe, engine_task_id task)
{
    return engine_task_record(pipe->engine, task)->end_ns;
}

/* The sums to which the pieces of a walk are added. */
struct timing_sums {
    const struct pipe *pipe;
    int64_t *part_ns;        /* [PART_COUNT] */
    int64_t *basis_ns;       /* [BASIS_COUNT], or NULL: neither this nor ... */
    struct assumed *assumed; /* ... this is asked for */
};

static void assumed_add(struct assumed *assumed, struct trust trust, int64_t ns)
{
    uint32_t i = 0;
    while (i < assumed->count && assumed->figure[i] != trust.assumed) {
        i++;
    }
    if (trust.basis != BASIS_ASSUMED || trust.assumed == NULL || i == ASSUMED_MOST) {
        return;
    }
    assumed->count += i == assumed->count;
    assumed->figure[i] = trust.assumed;
    assumed->ns[i] += ns;
}

/* The length of the part of [begin, end) in [from, to). */
static int64_t timing_overlap(int64_t begin, int64_t end, int64_t from, int64_t to)
{
    int64_t first = begin > from ? begin : from;
    int64_t last = end < to ? end : to;
    return last > first ? last - first : 0;
}

/* A task's time rests first on the figure of its fixed part, then on that of its rate. The time by
 * which other flows slowed it rests on the capacities of the channels:
 *
 *   start ── fixed ──┬── moving, alone ──┬── slowed by others ── end */
struct rests {
    struct trust trust;
    int64_t ns;
};
static void timing_split(const struct pipe *pipe, const struct engine_record *record,
                         int64_t begin_ns, int64_t end_ns, struct rests out[3])
{
    const struct pipe_mark *mark = &pipe->marks[record->tag];
    int64_t moves = record->start_ns + mark->fixed_ns;
    int64_t alone = record->start_ns + mark->alone_ns;
    out[0] = (struct rests){mark->fixed_trust,
                            timing_overlap(begin_ns, end_ns, record->start_ns, moves)};
    out[1] = (struct rests){mark->rate_trust, timing_overlap(begin_ns, end_ns, moves, alone)};
    out[2] = (struct rests){pipe->channel_trust,
                            timing_overlap(begin_ns, end_ns, alone, record->end_ns)};
}

static void timing_add_piece(engine_task_id task, int64_t begin_ns, int64_t end_ns, void *context)
{
    struct timing_sums *sums = context;
    const struct engine_record *record = engine_task_record(sums->pipe->engine, task);
    struct rests rests[3];
    sums->part_ns[sums->pipe->marks[record->tag].part] += end_ns - begin_ns;
    if (sums->basis_ns == NULL) {
        return;
    }
    timing_split(sums->pipe, record, begin_ns, end_ns, rests);
    for (int i = 0; i < 3; i++) {
        sums->basis_ns[rests[i].trust.basis] += rests[i].ns;
        assumed_add(sums->assumed, rests[i].trust, rests[i].ns);
    }
}

/* The gaps of the main stream in reported steps, each split by what the task after it waited for. */
static void read_stalls(const struct pipe *pipe, uint32_t steps, struct timing *out)
{
    struct timing_sums sums = {pipe, out->stall_ns, NULL, NULL};
    int64_t last_end = end_of(pipe, pipe->step_end[0]);
    for (engine_task_id task = pipe->step_end[0] + 1; task <= pipe->step_end[steps]; task++) {
        const struct engine_record *record = engine_task_record(pipe->engine, task);
        if (record->resource != pipe->resource[PIPE_MAIN]) {
            continue;
        }
        if (record->start_ns > last_end) {
            critical_path_walk(pipe->engine, record->binding, last_end, timing_add_piece, &sums);
        }
        last_end = record->end_ns;
    }
}

static void read_steps(const struct pipe *pipe, uint32_t steps, struct timing *out)
{
    struct timing_sums sums = {pipe, out->part_ns, out->basis_ns, &out->assumed};
    for (uint32_t s = 1; s <= steps; s++) {
        int64_t from = end_of(pipe, pipe->step_end[s - 1]);
        out->step[s - 1] = pipe->moved[s];
        out->step[s - 1].ns = end_of(pipe, pipe->step_end[s]) - from;
        critical_path_walk(pipe->engine, pipe->step_end[s], from, timing_add_piece, &sums);
    }
}

enum pipe_resource timing_place(const struct pipe *pipe, uint32_t resource)
{
    int place = 0;
    while (place < PIPE_NO_QUEUE && pipe->resource[place] != resource) {
        place++;
    }
    return (enum pipe_resource)place;
}

/* The CPU is occupied as long as its tasks run; threads that do one job together count once. */
static void read_cpu(const struct pipe *pipe, uint32_t steps, struct timing *out)
{
    for (engine_task_id task = pipe->step_end[0] + 1; task < engine_task_count(pipe->engine);
         task++) {
        const struct engine_record *record = engine_task_record(pipe->engine, task);
        const struct pipe_mark *mark = &pipe->marks[record->tag];
        enum pipe_resource place = timing_place(pipe, record->resource);
        bool counts = mark->step > 0 && mark->step <= steps &&
                      (place == PIPE_LAUNCH || place == PIPE_POOL || place == PIPE_STORES);
        *out->cpu_ns += counts ? record->end_ns - record->start_ns : 0;
    }
}

/* When a layer of a reported step (from 1) begins: at the end of the layer before, or its first kernel. */
static int64_t timing_layer_begin(const struct pipe *pipe, uint32_t step, uint32_t layer)
{
    if (layer > 0) {
        return end_of(pipe, pipe->layer_end[(size_t)step * pipe->plan->layers + layer - 1]);
    }
    engine_task_id first = pipe->step_end[step - 1] + 1;
    while (engine_task_record(pipe->engine, first)->resource != pipe->resource[PIPE_MAIN]) {
        first++;
    }
    return engine_task_record(pipe->engine, first)->start_ns;
}

static void timing_read_layers(const struct pipe *pipe, uint32_t steps, struct timing *out)
{
    uint32_t layers = out->layers;
    for (uint32_t s = 1; s <= steps; s++) {
        for (uint32_t l = 0; l < layers; l++) {
            int64_t to = end_of(pipe, pipe->layer_end[(size_t)s * layers + l]);
            out->layer_ns[l] += to - timing_layer_begin(pipe, s, l);
        }
    }
}

struct trust pipe_trust(const struct pipe *pipe)
{
    struct trust trust = work_trust;
    for (engine_task_id task = 0; task < engine_task_count(pipe->engine); task++) {
        const struct engine_record *record = engine_task_record(pipe->engine, task);
        const struct pipe_mark *mark = &pipe->marks[record->tag];
        trust_add(&trust, mark->fixed_trust);
        trust_add(&trust, mark->rate_trust);
        if (record->end_ns - record->start_ns > mark->alone_ns) {
            trust_add(&trust, pipe->channel_trust);
        }
    }
    return trust;
}

bool timing_init(struct timing *timing, const struct setup *setup, const struct plan *plan,
                 struct error *why)
{
    size_t loops = loops_count(setup, plan);
    *timing = (struct timing){.steps = plan->steps, .layers = plan->layers, .loops = loops};
    const struct {
        int64_t **first;
        size_t count;
    } all[] = {
        {(int64_t **)&timing->step, plan->steps * STEP_INTEGERS},
        {&timing->layer_ns, plan->layers},
        {&timing->part_ns, PART_COUNT},
        {&timing->stall_ns, PART_COUNT},
        {&timing->cpu_ns, 1},
        {&timing->basis_ns, BASIS_COUNT},
        {&timing->assumed.ns, ASSUMED_MOST},
        {&timing->idle_ns, loops * LOOP_IDLES},
        {&timing->lag_ns, loops * LOOP_LAGS},
    };
    enum { SPANS = sizeof all / sizeof *all };
    for (size_t i = 0; i < SPANS; i++) {
        timing->count += all[i].count;
    }
    timing->figures = array_zeroed(timing->count, sizeof *timing->figures, why);
    for (size_t i = 0, at = 0; timing->figures != NULL && i < SPANS; at += all[i++].count) {
        *all[i].first = timing->figures + at;
    }
    return timing->figures != NULL;
}

void timing_take(struct timing *timing, const struct pipe *pipe, uint32_t steps)
{
    memset(timing->figures, 0, timing->count * sizeof *timing->figures);
    read_steps(pipe, steps, timing);
    read_stalls(pipe, steps, timing);
    read_cpu(pipe, steps, timing);
    timing_read_layers(pipe, steps, timing);
    loops_read(pipe, 1, steps + 1, timing->idle_ns, timing->lag_ns);
}

void timing_finish(struct timing *timing, struct trust trust)
{
    const struct assumed *assumed = &timing->assumed;
    timing->trust = trust;
    timing->exact = true;
    for (uint32_t s = 0; s < timing->steps; s++) {
        timing->total_ns += timing->step[s].ns;
    }
    for (uint32_t i = 0; i < assumed->count; i++) {
        if (assumed->ns[i] > timing->assumed_ns) {
            timing->assumed_figure = assumed->figure[i];
            timing->assumed_ns = assumed->ns[i];
        }
    }
}

void timing_release(struct timing *timing)
{
    free(timing->figures);
    *timing = (struct timing){.figures = NULL};
}
