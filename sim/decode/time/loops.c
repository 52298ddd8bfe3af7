/* Tasks are put loop after loop, so one loop is open at a time. */
#include "decode/time/loops.h"

#include "engine/engine.h"

#include <string.h>

static uint32_t halves_of(const struct mechanisms *mechanisms)
{
    return mechanisms->halves ? 2 : 1;
}

size_t loops_count(const struct setup *setup, const struct plan *plan)
{
    return (size_t)plan->layers * halves_of(&setup->mechanisms) * plan->micro_batches.runs;
}

/* The loop whose tasks are being read. */
struct open {
    const struct pipe *pipe;
    int64_t *idle_ns, *lag_ns;
    uint32_t run, run_begin, run_end; /* micro-batches of the run */
    size_t index;
    int64_t begin_ns; /* the end of the last main task before it */
    int64_t main_end_ns;
    int64_t busy_ns[PIPE_RESOURCE_COUNT];
    int64_t end_ns[PIPE_RESOURCE_COUNT]; /* of the last task of the last micro-batches; or -1 */
};

static void open_loop(struct open *open, size_t index)
{
    open->index = index;
    open->begin_ns = open->main_end_ns;
    for (int r = 0; r < PIPE_RESOURCE_COUNT; r++) {
        open->busy_ns[r] = 0;
        open->end_ns[r] = -1;
    }
}

static void close_loop(struct open *open)
{
    int64_t *idle = open->idle_ns + open->index * LOOP_IDLES;
    int64_t *lag = open->lag_ns + open->index * LOOP_LAGS;
    for (int r = 0; r < PIPE_RESOURCE_COUNT; r++) {
        int64_t own = open->end_ns[r] < 0 ? 0 : open->main_end_ns - open->end_ns[r];
        idle[r] += open->main_end_ns - open->begin_ns - open->busy_ns[r];
        lag[r] += r == PIPE_LAUNCH ? 0 : own;
        idle[PIPE_RESOURCE_COUNT] += r == PIPE_LAUNCH ? own : 0;
    }
}

/* Find the run of a micro-batch: mostly the one before. */
static void loops_find_run(struct open *open, uint32_t micro_batch)
{
    const uint32_t *times = open->pipe->plan->micro_batches.times;
    if (micro_batch < open->run_begin) {
        open->run = open->run_begin = 0;
        open->run_end = times[0];
    }
    while (micro_batch >= open->run_end) {
        open->run_begin = open->run_end;
        open->run_end += times[++open->run];
    }
}

static size_t loop_of(struct open *open, const struct pipe_mark *mark)
{
    uint32_t halves = halves_of(open->pipe->mechanisms);
    size_t half = mark->halves == HALF_FFN ? halves - 1 : 0;
    loops_find_run(open, mark->micro_batch);
    return (mark->layer * halves + half) * open->pipe->plan->micro_batches.runs + open->run;
}

static void add_task(struct open *open, const struct pipe_mark *mark,
                     const struct engine_record *record)
{
    enum pipe_resource resource = timing_place(open->pipe, record->resource);
    if (resource != PIPE_NO_QUEUE) {
        open->busy_ns[resource] += record->end_ns - record->start_ns;
        open->end_ns[resource] =
            mark->micro_batch + 2 >= open->run_end ? record->end_ns : open->end_ns[resource];
    }
    open->main_end_ns = resource == PIPE_MAIN ? record->end_ns : open->main_end_ns;
}

void loops_read(const struct pipe *pipe, uint32_t from, uint32_t to, int64_t *idle_ns,
                int64_t *lag_ns)
{
    const size_t none = SIZE_MAX;
    bool started = false;
    struct open open = {.pipe = pipe, .idle_ns = idle_ns, .lag_ns = lag_ns, .index = none};
    open.run_end = pipe->plan->micro_batches.times[0];
    for (engine_task_id task = 0; task < engine_task_count(pipe->engine); task++) {
        const struct engine_record *record = engine_task_record(pipe->engine, task);
        const struct pipe_mark *mark = &pipe->marks[record->tag];
        started = started || record->resource == pipe->resource[PIPE_MAIN];
        bool belongs =
            started && mark->step >= from && mark->step < to && mark->layer < pipe->plan->layers;
        size_t loop = belongs ? loop_of(&open, mark) : none;
        if (loop != open.index && open.index != none) {
            close_loop(&open);
        }
        if (loop != open.index) {
            open_loop(&open, loop);
        }
        add_task(&open, mark, record);
    }
}
