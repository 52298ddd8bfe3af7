#include "decode/time/shortened.h"

#include "base/array.h"
#include "decode/time/reading.h"
#include "decode/time/steady.h"
#include "decode/time/work.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_BUILT = 3 }; /* the last two of them must add the same */

struct shortened {
    const struct setup *setup;
    const struct plan *plan;
    const struct ledger *ledger; /* may be NULL */
    const struct stop_flag *stop;
    struct reading reading; /* of the schedule that was timed last, owned */
    int64_t *before[2];     /* figures of one step and of two, owned */
    struct trust trust;     /* of all schedules */
};

/* ---- steps ---- */

/* Do two rows want the same, whatever attention mass it has? */
static bool wants_same(const struct ledger_row *a, const struct ledger_row *b)
{
    size_t end = offsetof(struct ledger_row, offloaded_heads) + sizeof a->offloaded_heads;
    return memcmp(a, b, end) == 0;
}

static bool steps_want_same(const struct ledger *ledger)
{
    size_t step = ledger->layers, rows = ledger->steps * step;
    bool same = true;
    for (uint32_t part = 0; part <= ledger->parts; part++) {
        const struct ledger_row *first = ledger->rows + part * rows;
        for (size_t i = step; i < rows; i++) {
            same = same && wants_same(&first[i], &first[i % step]);
        }
    }
    return same;
}

/* Take the figures of a schedule's first steps, and repeat the last one up to the reading's steps;
 * false if it added other than the one before. */
static bool take_alike(struct shortened *shortened, const struct pipe *pipe, int64_t *figures)
{
    struct reading *reading = &shortened->reading;
    size_t count = reading_count(reading), steps = reading_step_count(reading);
    size_t each = steps / reading->timing.steps;
    int64_t further = (int64_t)reading->timing.steps - STEPS_BUILT;
    bool alike = true;
    for (uint32_t s = 1; s < STEPS_BUILT; s++) {
        reading_take(reading, pipe, s);
        reading_get(reading, shortened->before[s - 1]);
    }
    reading_take(reading, pipe, STEPS_BUILT);
    reading_get(reading, figures);
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
            reading_take(&shortened->reading, &pipe, plan->steps);
            reading_get(&shortened->reading, figures);
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

static bool shortened_extrapolate(struct shortened *shortened, int64_t *figures, struct timing *out,
                                  struct error *why)
{
    struct steady_question question = {
        .plan = shortened->plan,
        .count = reading_count(&shortened->reading),
        .idle_count = shortened->reading.loops * LOOP_IDLES,
        .lag_count = shortened->reading.loops * LOOP_LAGS,
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
    reading_set(&shortened->reading, figures);
    reading_finish(&shortened->reading, shortened->trust, out);
    out->exact = exact;
    if (!exact) {
        settle(out->part_ns, PART_COUNT, out->total_ns);
        settle(out->basis_ns, BASIS_COUNT, out->total_ns);
    }
    return true;
}

bool shortened_run(const struct setup *setup, const struct plan *plan, const struct ledger *ledger,
                   const struct stop_flag *stop, struct timing *out, struct error *why)
{
    struct shortened shortened = {
        .setup = setup, .plan = plan, .ledger = ledger, .stop = stop, .trust = work_trust};
    int64_t *figures = NULL;
    bool good = reading_init(&shortened.reading, setup, plan, why);
    size_t count = good ? reading_count(&shortened.reading) : 0;
    good = good && (figures = array_zeroed(count, sizeof *figures, why)) &&
           (shortened.before[0] = array_zeroed(count, sizeof *figures, why)) &&
           (shortened.before[1] = array_zeroed(count, sizeof *figures, why)) &&
           shortened_extrapolate(&shortened, figures, out, why);
    reading_release(&shortened.reading);
    free(shortened.before[0]);
    free(shortened.before[1]);
    free(figures);
    return good;
}
