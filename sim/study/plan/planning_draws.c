#include "study/plan/planning_draws.h"

#include "study/sweep/sweep.h"

struct planning_draw {
    const struct planning_options *options;
    struct quest *quest;
    uint32_t value;
};

static bool planning_draws_take(uint32_t index, struct result *result, void *context,
                                struct error *why)
{
    const struct planning_draw *drawing = context;
    struct result *own = &drawing->quest->results[drawing->value];
    (void)index;
    (void)why;
    result_release(own);
    *own = *result;
    result_init(result);
    return true;
}

static void planning_draws_tell(uint32_t draws, void *context)
{
    const struct planning_draw *drawing = context;
    const struct candidate *candidate = drawing->quest->candidate;
    (void)draws;
    if (drawing->options->on_progress != NULL) {
        drawing->options->on_progress(candidate->system, candidate->machine,
                                      drawing->quest->search.tried, drawing->options->context);
    }
}

static bool planning_draws_add(const struct planning *planning, struct planning_draw *drawing,
                               bool *interrupted, struct error *why)
{
    struct scenario point;
    const struct sweep_options sweep = {.store = drawing->options->store,
                                        .jobs = drawing->options->jobs,
                                        .runs = drawing->options->runs,
                                        .replications = {.count = drawing->options->draws},
                                        .on_result = planning_draws_take,
                                        .on_draws = planning_draws_tell,
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
        struct planning_draw drawing = {.options = options, .quest = &planning->quests[i]};
        bool found = drawing.quest->found != PLANNING_NONE;
        bool nearest = planning->winner == PLANNING_NONE && i == planning->nearest;
        drawing.value = found ? drawing.quest->found : drawing.quest->nearest;
        good = !(found || nearest) || planning_draws_add(planning, &drawing, interrupted, why);
    }
    return good;
}
