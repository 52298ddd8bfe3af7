/* The short schedules of a question. In all of them a long run has n - d, n or n + d micro-batches:
 * once all long runs n - d, once all n, and then each in turn n + d while the others have n. */
#include "decode/time/steady.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct steady {
    const struct steady_question *question;
    uint32_t first, spacing; /* the least n; d */
    uint32_t *times;         /* [runs] micro-batches of the schedule that is timed, owned */
    int64_t *figures;        /* [count] of that schedule, owned */
    int64_t *middle;         /* [count] when all long runs have n, owned */
    int64_t *added;          /* [count] what d more micro-batches add, over all long runs; owned */
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

/* n of a long run: the least from `first` on that leaves whole periods. */
static uint32_t short_times(const struct steady *steady, uint32_t run)
{
    return steady->first + (steady_whole(steady)->times[run] - steady->first) % steady->spacing;
}

/* Give each run its times: n of the long ones. */
static void set_times(struct steady *steady)
{
    for (uint32_t r = 0; r < steady_whole(steady)->runs; r++) {
        steady->times[r] =
            run_is_long(steady, r) ? short_times(steady, r) : steady_whole(steady)->times[r];
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

/* Lengthen one run to its whole length: add to `figures` what it adds, and take the same for d
 * micro-batches off `added`. */
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
        .times = array_zeroed(question->plan->micro_batches.runs, sizeof *steady.times, why),
        .figures = array_zeroed(question->count, sizeof *steady.figures, why),
        .middle = array_zeroed(question->count, sizeof *steady.middle, why),
        .added = array_zeroed(question->count, sizeof *steady.added, why),
    };
    bool good = steady.times != NULL && steady.figures != NULL && steady.middle != NULL &&
                steady.added != NULL && steady_find(&steady, figures, exact, why);
    free(steady.times);
    free(steady.figures);
    free(steady.middle);
    free(steady.added);
    return good;
}
