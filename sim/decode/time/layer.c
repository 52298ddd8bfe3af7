#include "decode/time/layer.h"

#include "core/array.h"
#include "decode/time/pipe.h"
#include "core/engine/critical_path.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static_assert(LAYER_RESOURCES == PIPE_NO_QUEUE + 1, "each resource has a place, and none has one");

/* The span of the layer, and what the walk over its critical path leaves. */
struct layer_walk {
    const struct pipe *pipe;
    int64_t from_ns, to_ns;
    int64_t *path_ns; /* [tasks] */
    int64_t *basis_ns;
};

static void layer_add_piece(engine_task_id task, int64_t begin_ns, int64_t end_ns, void *context)
{
    struct layer_walk *walk = context;
    walk->path_ns[task] += end_ns - begin_ns;
    timing_add_bases(walk->pipe, engine_task_record(walk->pipe->engine, task), begin_ns, end_ns,
                     walk->basis_ns);
}

/* The part of a task in the layer, as a bar. False: it has none. */
static bool bar_of(const struct layer_walk *walk, engine_task_id task, struct layer_bar *bar)
{
    const struct pipe *pipe = walk->pipe;
    const struct engine_record *record = engine_task_record(pipe->engine, task);
    const struct pipe_mark *mark = &pipe->marks[record->tag];
    int64_t begin = record->start_ns > walk->from_ns ? record->start_ns : walk->from_ns;
    int64_t end = record->end_ns < walk->to_ns ? record->end_ns : walk->to_ns;
    if (begin >= end) {
        return false;
    }
    *bar = (struct layer_bar){
        .task = task,
        .stage = mark->stage,
        .resource = record->resource == ENGINE_NONE
                        ? NULL
                        : engine_resource_name(pipe->engine, record->resource),
        .resource_id = timing_place(pipe, record->resource),
        .layer = mark->layer,
        .micro_batch = mark->micro_batch,
        .part = mark->part,
        .begin_ns = begin - walk->from_ns,
        .end_ns = end - walk->from_ns,
        .path_ns = walk->path_ns[task],
    };
    timing_add_bases(pipe, record, begin, end, bar->basis_ns);
    return true;
}

/* Both are of one stage, and `next` begins when `bar` ends. */
static bool layer_goes_on(const struct layer_bar *bar, const struct layer_bar *next)
{
    return bar->resource != NULL && bar->resource_id == next->resource_id &&
           bar->stage == next->stage && bar->layer == next->layer &&
           bar->micro_batch == next->micro_batch && bar->part == next->part &&
           bar->end_ns == next->begin_ns;
}

static void layer_extend(struct layer_bar *bar, const struct layer_bar *next)
{
    bar->end_ns = next->end_ns;
    bar->path_ns += next->path_ns;
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        bar->basis_ns[basis] += next->basis_ns[basis];
    }
}

static int by_resource(const void *left, const void *right)
{
    const struct layer_bar *a = left, *b = right;
    if (a->resource_id != b->resource_id) {
        return a->resource_id < b->resource_id ? -1 : 1;
    }
    if (a->begin_ns != b->begin_ns) {
        return a->begin_ns < b->begin_ns ? -1 : 1;
    }
    return (a->task > b->task) - (a->task < b->task);
}

static int by_begin(const void *left, const void *right)
{
    const struct layer_bar *a = left, *b = right;
    return a->begin_ns != b->begin_ns ? (a->begin_ns < b->begin_ns ? -1 : 1) : by_resource(a, b);
}

static void join_bars(struct layer_schedule *schedule)
{
    uint32_t kept = 0;
    qsort(schedule->bars, schedule->count, sizeof *schedule->bars, by_resource);
    for (uint32_t i = 0; i < schedule->count; i++) {
        if (kept > 0 && layer_goes_on(&schedule->bars[kept - 1], &schedule->bars[i])) {
            layer_extend(&schedule->bars[kept - 1], &schedule->bars[i]);
        } else {
            schedule->bars[kept++] = schedule->bars[i];
        }
    }
    schedule->count = kept;
    qsort(schedule->bars, schedule->count, sizeof *schedule->bars, by_begin);
}

/* One layer of a finished schedule; step 0 of `pipe` is the one that is not reported. */
static bool layer_read(const struct pipe *pipe, uint32_t step, uint32_t layer,
                       struct layer_schedule *out, struct error *why)
{
    uint32_t tasks = engine_task_count(pipe->engine);
    engine_task_id last = pipe->layer_end[(size_t)step * pipe->plan->layers + layer];
    struct layer_walk walk = {
        .pipe = pipe,
        .from_ns = timing_layer_begin(pipe, step, layer),
        .to_ns = engine_task_record(pipe->engine, last)->end_ns,
        .path_ns = array_zeroed(tasks, sizeof *walk.path_ns, why),
        .basis_ns = out->basis_ns,
    };
    out->bars = array_zeroed(tasks, sizeof *out->bars, why);
    bool good = walk.path_ns != NULL && out->bars != NULL;
    if (good) {
        out->layers = pipe->plan->layers;
        out->ns = walk.to_ns - walk.from_ns;
        critical_path_walk(pipe->engine, last, walk.from_ns, layer_add_piece, &walk);
        for (engine_task_id task = 0; task < tasks; task++) {
            out->count += bar_of(&walk, task, &out->bars[out->count]);
        }
        join_bars(out);
    }
    free(walk.path_ns);
    return good;
}

bool pipeline_layer(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                    uint32_t step, uint32_t layer, struct layer_schedule *out, struct error *why)
{
    struct pipe pipe;
    struct plan shown;
    memset(out, 0, sizeof *out);
    bool good = pipe_build_shown(&pipe, setup, plan, ledger, step, &shown, why) &&
                layer_read(&pipe, step + 1, layer, out, why);
    pipe_release(&pipe);
    if (!good) {
        layer_schedule_release(out);
    }
    return good;
}

void layer_schedule_release(struct layer_schedule *schedule)
{
    free(schedule->bars);
    *schedule = (struct layer_schedule){.bars = NULL};
}
