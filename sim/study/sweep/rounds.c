#include "study/sweep/rounds.h"

#include <stdlib.h>

struct round {
    const struct rounds *rounds;
    struct round_try {
        uint32_t line, value;
    } * tries; /* [lines * ROUNDS_MOST], owned */
    uint32_t count;
};

static bool round_take(uint32_t index, struct result *result, void *context, struct error *why)
{
    const struct round *round = context;
    const struct round_try *try = &round->tries[index];
    return round->rounds->take(try->line, try->value, result, round->rounds->context, why);
}

static bool round_run(struct round *round, struct error *why)
{
    const struct rounds *rounds = round->rounds;
    struct run_context runs = *rounds->study->runs; /* a view */
    struct scenario points;
    runs.rough = rounds->rough;
    runs.question = rounds->question;
    const struct sweep_options sweep = {.store = rounds->rough ? NULL : rounds->study->store,
                                        .jobs = rounds->study->jobs,
                                        .runs = &runs,
                                        .keep_failed = true,
                                        .on_result = round_take,
                                        .context = round};
    bool good = scenario_init(&points, why);
    for (uint32_t i = 0; good && i < round->count; i++) {
        struct scenario point;
        good = rounds->set(round->tries[i].line, round->tries[i].value, &point, rounds->context,
                           why) &&
               scenario_add_case(&points, point.root, &point.values, why);
        scenario_release(&point);
    }
    points.sources = sources_hold(rounds->sources);
    good = good && sweep_run(&points, &sweep, why);
    scenario_release(&points);
    return good;
}

bool rounds_run(const struct rounds *rounds, struct error *why)
{
    struct round round = {.rounds = rounds};
    round.tries = array_zeroed((size_t)rounds->lines * ROUNDS_MOST, sizeof *round.tries, why);
    bool good = round.tries != NULL, more = true;
    while (good && more) {
        uint32_t open = 0;
        round.count = 0;
        for (uint32_t line = 0; line < rounds->lines; line++) {
            uint32_t values[ROUNDS_MOST];
            uint32_t count = rounds->next(line, values, rounds->context);
            open += count > 0;
            for (uint32_t i = 0; i < count; i++) {
                round.tries[round.count++] = (struct round_try){line, values[i]};
            }
        }
        if (rounds->on_round != NULL && open > 0) {
            rounds->on_round(open, rounds->context);
        }
        good = round.count == 0 || round_run(&round, why);
        more = round.count > 0 && !rounds->once;
    }
    free(round.tries);
    return good;
}
