#include "study/plan/planning_draws.h"

#include "study/sweep/sweep.h"

struct drawing {
    const struct planning_options *options;
    struct quest *quest;
    uint32_t value;
};

static bool take(uint32_t index, struct result *result, void *context, struct error *why)
{
    const struct drawing *drawing = context;
    struct result *own = &drawing->quest->results[drawing->value];
    (void)index;
    (void)why;
    result_release(own);
    *own = *result;
    result_init(result);
    return true;
}

static void tell_draws(uint32_t draws, void *context)
{
    const struct drawing *drawing = context;
    const struct candidate *candidate = drawing->quest->candidate;
    (void)draws;
    if (drawing->options->on_progress != NULL) {
        drawing->options->on_progress(candidate->system, candidate->machine,
                                      drawing->quest->search.tried, drawing->options->context);
    }
}

static bool draw(const struct planning *planning, struct drawing *drawing, bool *interrupted,
                 struct error *why)
{
    struct scenario point;
    const struct sweep_options sweep = {.store = drawing->options->store,
                                        .jobs = drawing->options->jobs,
                                        .runs = drawing->options->runs,
                                        .replications = {.count = drawing->options->draws},
                                        .on_result = take,
                                        .on_draws = tell_draws,
                                        .context = drawing};
    bool good = quest_scenario(drawing->quest, planning->maximise, drawing->value, &point, why) &&
                sweep_run(&point, &sweep, interrupted, why);
    scenario_release(&point);
    return good;
}

bool planning_draw(struct planning *planning, const struct planning_options *options,
                   bool *interrupted, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && !*interrupted && i < planning->count; i++) {
        struct drawing drawing = {.options = options, .quest = &planning->quests[i]};
        bool found = drawing.quest->found != PLANNING_NONE;
        bool nearest = planning->winner == PLANNING_NONE && i == planning->nearest;
        drawing.value = found ? drawing.quest->found : drawing.quest->nearest;
        good = !(found || nearest) || draw(planning, &drawing, interrupted, why);
    }
    return good;
}
