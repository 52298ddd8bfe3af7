/* The short schedules of a question: long runs have n - d micro-batches, then n, then each n + d in turn. */

#include "decode/time/steady.h"

#include <string.h>

struct steady {
    struct arrays arrays;
    const struct steady_question *question;
    uint32_t first, spacing; /* the least n; d */
    uint32_t *times;         /* [runs] micro-batches of the schedule that is timed */
    int64_t *figures;        /* [count] of that schedule */
    int64_t *middle;         /* [count] when all long runs have n */
    int64_t *added;          /* [count] what d more micro-batches add, over all long runs */
    bool in_step;            /* no lag has changed */
};

static bool is_long(uint32_t times, uint32_t first, uint32_t spacing)
{
    return times > first + 3 * spacing;
}

static bool any_long(const struct packing *packing, uint32_t first, uint32_t spacing)
{
    bool some = false;
    for (uint32_t r = 0; r < packing->runs; r++) {
        some = some || is_long(packing->times[r], first, spacing);
    }
    return some;
}

bool steady_shortens(const struct plan *plan)
{
    return any_long(&plan->micro_batches, STEADY_FIRST, STEADY_SPACING);
}

static const struct packing *steady_whole(const struct steady *steady)
{
    return &steady->question->plan->micro_batches;
}

static bool run_is_long(const struct steady *steady, uint32_t run)
{
    return is_long(steady_whole(steady)->times[run], steady->first, steady->spacing);
}

/* Give each run its times: n of the long ones, the least from `first` on that leaves whole periods. */
static void set_times(struct steady *steady)
{
    for (uint32_t r = 0; r < steady_whole(steady)->runs; r++) {
        uint32_t times = steady_whole(steady)->times[r], first = steady->first;
        steady->times[r] =
            run_is_long(steady, r) ? first + (times - first) % steady->spacing : times;
    }
}

static uint32_t count_of(const struct steady *steady)
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < steady_whole(steady)->runs; r++) {
        count += steady->times[r];
    }
    return count;
}

/* Time the schedule with these times. */
static bool time_short(struct steady *steady, int64_t *figures, struct error *why)
{
    const struct steady_question *question = steady->question;
    struct plan plan = *question->plan;
    plan.micro_batches.times = steady->times;
    plan.micro_batches.count = count_of(steady);
    return question->time(question->context, &plan, figures, why);
}

/* Are the lags of the schedule that was timed last those of the middle one? */
static bool same_lags(const struct steady *steady)
{
    size_t lags = steady->question->lag_count, first = steady->question->count - lags;
    return memcmp(steady->middle + first, steady->figures + first, lags * sizeof(int64_t)) == 0;
}

/* `added` becomes what the last d micro-batches of all long runs add to `middle`. */
static bool time_before(struct steady *steady, struct error *why)
{
    size_t count = steady->question->count;
    if (!time_short(steady, steady->middle, why)) {
        return false;
    }
    for (uint32_t r = 0; r < steady_whole(steady)->runs; r++) {
        steady->times[r] -= run_is_long(steady, r) ? steady->spacing : 0;
    }
    if (!time_short(steady, steady->figures, why)) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        steady->added[i] = steady->middle[i] - steady->figures[i];
    }
    steady->in_step = same_lags(steady);
    set_times(steady);
    return true;
}

/* Lengthen one run: add what it adds to `figures`, and take the same for d micro-batches off `added`. */
static bool steady_lengthen(struct steady *steady, uint32_t run, int64_t *figures,
                            struct error *why)
{
    int64_t periods = (steady_whole(steady)->times[run] - steady->times[run]) / steady->spacing;
    steady->times[run] += steady->spacing;
    bool good = time_short(steady, steady->figures, why);
    steady->times[run] -= steady->spacing;
    for (size_t i = 0; good && i < steady->question->count; i++) {
        int64_t step = steady->figures[i] - steady->middle[i];
        figures[i] += periods * step;
        steady->added[i] -= step;
    }
    steady->in_step = steady->in_step && same_lags(steady);
    return good;
}

static bool repeats(const struct steady *steady)
{
    size_t same = 0;
    while (same < steady->question->count && steady->added[same] == 0) {
        same++;
    }
    return same == steady->question->count && steady->in_step;
}

static bool idle_lasts(const struct steady *steady, const int64_t *figures)
{
    size_t end = steady->question->count - steady->question->lag_count;
    bool lasts = true;
    for (size_t i = end - steady->question->idle_count; i < end; i++) {
        lasts = lasts && (figures[i] >= 0 || figures[i] >= steady->middle[i]);
    }
    return lasts;
}

/* Extrapolate from n and d as they are; false in `good` asks for larger ones. */
static bool steady_extrapolate(struct steady *steady, int64_t *figures, bool *good, bool *exact,
                               struct error *why)
{
    set_times(steady);
    if (!time_before(steady, why)) {
        return false;
    }
    memcpy(figures, steady->middle, steady->question->count * sizeof *figures);
    for (uint32_t r = 0; r < steady_whole(steady)->runs; r++) {
        if (run_is_long(steady, r) && !steady_lengthen(steady, r, figures, why)) {
            return false;
        }
    }
    bool same = repeats(steady);
    *exact = same && idle_lasts(steady, figures);
    *good = *exact || count_of(steady) >= (same ? STEADY_MOST_IDLE : STEADY_MOST);
    return true;
}

static bool steady_find(struct steady *steady, int64_t *figures, bool *exact, struct error *why)
{
    bool good = false;
    while (!good && any_long(steady_whole(steady), steady->first, steady->spacing)) {
        if (!steady_extrapolate(steady, figures, &good, exact, why)) {
            return false;
        }
        steady->first *= 2;
        steady->spacing *= 2;
    }
    *exact = good ? *exact : true;
    set_times(steady);
    return good || time_short(steady, figures, why);
}

bool steady_figures(const struct steady_question *question, int64_t *figures, bool *exact,
                    struct error *why)
{
    struct steady steady = {
        .question = question,
        .first = STEADY_FIRST,
        .spacing = STEADY_SPACING,
    };
    size_t runs = question->plan->micro_batches.runs, count = question->count;
    steady.times = arrays_add(&steady.arrays, runs, sizeof *steady.times, why);
    steady.figures = arrays_add(&steady.arrays, count, sizeof *steady.figures, why);
    steady.middle = arrays_add(&steady.arrays, count, sizeof *steady.middle, why);
    steady.added = arrays_add(&steady.arrays, count, sizeof *steady.added, why);
    bool good = !steady.arrays.failed && steady_find(&steady, figures, exact, why);
    arrays_release(&steady.arrays);
    return good;
}

/* Tasks are put loop after loop, so one loop is open at a time. */

static uint32_t halves_of(const struct mechanisms *mechanisms)
{
    return mechanisms->halves ? 2 : 1;
}

size_t loops_count(const struct setup *setup, const struct plan *plan)
{
    return (size_t)plan->layers * halves_of(setup->mechanisms) * plan->micro_batches.runs;
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

enum { STEPS_BUILT = 3 }; /* the last two of them must add the same */

struct shortened {
    const struct setup *setup;
    const struct plan *plan;
    const struct ledger *ledger; /* may be NULL */
    const struct stop_flag *stop;
    struct timing *timing; /* of the schedule that was timed last */
    int64_t *before[2];    /* figures of one step and of two */
    struct trust trust;    /* of all schedules */
};

/* Whatever attention mass it has. */
static bool steps_want_same(const struct ledger *ledger)
{
    const size_t end = offsetof(struct ledger_row, offloaded_heads) + sizeof(uint32_t);
    size_t step = ledger->layers, rows = ledger->steps * step;
    bool same = true;
    for (uint32_t part = 0; part <= ledger->parts; part++) {
        const struct ledger_row *first = ledger->rows + part * rows;
        for (size_t i = step; i < rows; i++) {
            same = same && memcmp(&first[i], &first[i % step], end) == 0;
        }
    }
    return same;
}

/* Take the figures of the first steps, and repeat the last one; false if it differs from the one before. */
static bool take_alike(struct shortened *shortened, const struct pipe *pipe, int64_t *figures)
{
    struct timing *timing = shortened->timing;
    size_t count = timing->count, bytes = count * sizeof *figures;
    size_t each = STEP_INTEGERS, steps = timing->steps * each;
    int64_t further = (int64_t)timing->steps - STEPS_BUILT;
    bool alike = true;
    for (uint32_t s = 1; s <= STEPS_BUILT; s++) {
        timing_take(timing, pipe, s);
        memcpy(s < STEPS_BUILT ? shortened->before[s - 1] : figures, timing->figures, bytes);
    }
    for (size_t i = steps; i < count; i++) {
        int64_t last = figures[i] - shortened->before[1][i];
        alike = alike && last == shortened->before[1][i] - shortened->before[0][i];
        figures[i] += further * last;
    }
    for (size_t i = STEPS_BUILT * each; i < steps; i++) {
        figures[i] = figures[i - each];
    }
    return alike && memcmp(figures + each, figures + 2 * each, each * sizeof *figures) == 0;
}

/* ---- one schedule ---- */

bool shortened_pays(const struct plan *plan)
{
    uint64_t passes = (uint64_t)plan->micro_batches.count * plan->layers * (plan->steps + 1);
    return steady_shortens(plan) || passes > SHORTENED_PASSES;
}

static bool time_steps(struct shortened *shortened, const struct plan *plan, int64_t *figures,
                       bool *good, struct error *why)
{
    struct pipe pipe;
    bool built = pipe_build(&pipe, shortened->setup, plan, shortened->ledger, shortened->stop, why);
    if (built) {
        bool all = plan->steps == shortened->plan->steps;
        *good = all || take_alike(shortened, &pipe, figures);
        if (all) {
            struct timing *timing = shortened->timing;
            timing_take(timing, &pipe, plan->steps);
            memcpy(figures, timing->figures, timing->count * sizeof *figures);
        }
        trust_add(&shortened->trust, pipe_trust(&pipe));
    }
    pipe_release(&pipe);
    return built;
}

static bool shortened_time_plan(void *context, const struct plan *plan, int64_t *figures,
                                struct error *why)
{
    struct shortened *shortened = context;
    struct plan few = *plan;
    bool good = false;
    few.steps = STEPS_BUILT;
    if (plan->steps > STEPS_BUILT &&
        (shortened->ledger == NULL || steps_want_same(shortened->ledger)) &&
        !time_steps(shortened, &few, figures, &good, why)) {
        return false;
    }
    return good || time_steps(shortened, plan, figures, &good, why);
}

/* ---- all ---- */

/* Figures that do not repeat are rounded: let parts add up to the steps again. */
static void settle(int64_t *parts, size_t count, int64_t total)
{
    size_t largest = 0;
    for (size_t i = 0; i < count; i++) {
        parts[i] = parts[i] > 0 ? parts[i] : 0;
        total -= parts[i];
        largest = parts[i] > parts[largest] ? i : largest;
    }
    parts[largest] += total;
}

static bool shortened_extrapolate(struct shortened *shortened, int64_t *figures, struct error *why)
{
    struct timing *timing = shortened->timing;
    struct steady_question question = {
        .plan = shortened->plan,
        .count = timing->count,
        .idle_count = timing->loops * LOOP_IDLES,
        .lag_count = timing->loops * LOOP_LAGS,
        .time = shortened_time_plan,
        .context = shortened,
    };
    bool exact;
    if (!steady_figures(&question, figures, &exact, why)) {
        return false;
    }
    for (size_t i = 0; !exact && i < question.count; i++) {
        figures[i] = figures[i] > 0 ? figures[i] : 0; /* what shrinks ends at nothing */
    }
    memcpy(timing->figures, figures, question.count * sizeof *figures);
    timing_finish(timing, shortened->trust);
    timing->exact = exact;
    if (!exact) {
        settle(timing->part_ns, PART_COUNT, timing->total_ns);
        settle(timing->basis_ns, BASIS_COUNT, timing->total_ns);
    }
    return true;
}

bool shortened_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                   const struct stop_flag *stop, struct timing *out, struct error *why)
{
    struct shortened shortened = {setup, plan, ledger, stop, out, {NULL, NULL}, work_trust};
    struct arrays arrays = {.failed = false};
    int64_t *figures = arrays_add(&arrays, out->count, sizeof *figures, why);
    shortened.before[0] = arrays_add(&arrays, out->count, sizeof *figures, why);
    shortened.before[1] = arrays_add(&arrays, out->count, sizeof *figures, why);
    bool good = !arrays.failed && shortened_extrapolate(&shortened, figures, why);
    arrays_release(&arrays);
    return good;
}
