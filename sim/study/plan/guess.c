/* Where the highest rate of a server probably lies, for a fraction of the work of a search (capacity.h). The
 * search then begins near that (grid.h).
 *
 * Only for targets that a higher rate is further from, such as times. */
#include "study/plan/planning.h"

#include "study/sweep/rounds.h"

#include <string.h>

/* A grid of so many values or more is worth a guess. The answer is expected within REACH values of it, a
 * factor of 1.35, or of REACH_BESIDE if somebody says where it is; that of a stream is found to SURE of them,
 * 5 %, and a rough one to ROUGH. */
enum { FINE = 128, REACH = 12, REACH_BESIDE = 4, SURE = 2, ROUGH = 4 };

struct guessing {
    struct planning *planning;
    const struct planning_options *options;
};

static bool is_guessed(const struct search *search)
{
    return search->grid.load && search->grid.count >= FINE && strcmp(search->axis.key, "rate") == 0;
}

static uint32_t guess_next(uint32_t line, uint32_t *values, void *context)
{
    const struct guessing *guessing = context;
    values[0] = 0;
    return is_guessed(&guessing->planning->searches[line]);
}

static bool guess_set(uint32_t line, uint32_t value, struct scenario *out, void *context,
                      struct error *why)
{
    const struct guessing *guessing = context;
    const struct search *search = &guessing->planning->searches[line];
    (void)value;
    return scenario_copy(&search->candidate->scenario, out, why) && capacity_set_at_once(out, why);
}

static void begin_near(struct search *search, const struct planning_options *options, double rate,
                       uint32_t reach)
{
    uint32_t close = options->rough ? ROUGH : search->is_whole != NULL ? SURE : 1;
    grid_near(&search->grid, search_value_at(search, rate), reach, close);
}

static bool guess_take(uint32_t line, uint32_t value, struct result *result, void *context,
                       struct error *why)
{
    const struct guessing *guessing = context;
    struct search *search = &guessing->planning->searches[line];
    struct targets times;
    (void)value;
    (void)why;
    targets_without_queue(&guessing->options->targets, &times);
    begin_near(search, guessing->options,
               (times.count > 0 ? CAPACITY_USUAL : 1) * capacity_at_once(result), REACH);
    return true;
}

/* Times and queues grow with the rate, and what is too long is so at every rate. A cost falls, and
 * a lower bound may be met by higher rates alone: then the lowest rate does not tell. */
static bool only_times(const struct targets *targets)
{
    bool only = true;
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct column *column = targets->all[i].column;
        bool time = column->unit == UNIT_MS || column == COLUMN(queue_grows) ||
                    column == COLUMN(requests_left_out);
        only = only && targets->all[i].at_most && time;
    }
    return only;
}

bool planning_guess(struct planning *planning, const struct planning_options *options,
                    struct sources *sources, bool *interrupted, struct error *why)
{
    struct guessing guessing = {planning, options};
    const struct rounds rounds = {.lines = planning->count,
                                  .once = true,
                                  .rough = true,
                                  .study = &options->study,
                                  .sources = sources,
                                  .next = guess_next,
                                  .set = guess_set,
                                  .take = guess_take,
                                  .context = &guessing};
    if (!only_times(&options->targets)) {
        return true;
    }
    for (uint32_t i = 0; options->guess > 0 && i < planning->count; i++) {
        if (is_guessed(&planning->searches[i])) {
            begin_near(&planning->searches[i], options, options->guess, REACH_BESIDE);
        }
    }
    return options->guess > 0 || rounds_run(&rounds, interrupted, why);
}
