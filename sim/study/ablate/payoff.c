/* Settings are the outer loop of a second sweep, sets of mechanisms the inner one:
 *
 *     points   setting 0: set 0, set 1, ...   setting 1: set 0, set 1, ...
 *
 * These runs are not stored: reports would compare their settings, which nobody asked about.
 */
#include "study/ablate/ablation.h"

#include "core/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_CONTEXT 512 /* tokens; below, sinks and recent tokens are much of the context */

static void add_setting(struct payoff_setting *settings, uint32_t *count, const char *key,
                        uint64_t value, uint64_t least)
{
    if (value >= least) {
        settings[(*count)++] = (struct payoff_setting){key, value};
    }
}

uint32_t payoff_settings(uint64_t batch, uint64_t context,
                         struct payoff_setting out[PAYOFF_SETTINGS])
{
    uint32_t count = 0;
    for (uint64_t factor = 4; factor <= 16; factor *= 4) {
        add_setting(out, &count, "batch", batch * factor, 1);
        add_setting(out, &count, "batch", batch % factor == 0 ? batch / factor : 0, 1);
        add_setting(out, &count, "context", context / factor, LEAST_CONTEXT);
    }
    return count;
}

/* ---- runs ---- */

/* The sets that the mechanisms in question need, and their results in every setting. */
struct payoff_trial {
    struct scenario scenario;
    uint32_t *sets; /* [count], owned */
    uint32_t count;
    struct result *results; /* [settings * count], owned */
    uint32_t done;
};

static void payoff_release(struct payoff_trial *trial)
{
    for (uint32_t i = 0; i < trial->done; i++) {
        result_release(&trial->results[i]);
    }
    free(trial->results);
    free(trial->sets);
    scenario_release(&trial->scenario);
}

static bool is_tried(const struct ablation *ablation, const struct ablation_row *row)
{
    return row->kind == ABLATION_LEFT_OUT && ablation_costs(ablation, row);
}

static bool payoff_list_sets(const struct ablation *ablation, struct payoff_trial *trial,
                             struct error *why)
{
    trial->sets = array_zeroed(2 * ablation->row_count, sizeof *trial->sets, why);
    for (uint32_t i = 0; trial->sets != NULL && i < ablation->row_count; i++) {
        const struct ablation_row *row = &ablation->rows[i];
        const uint32_t both[] = {row->without, row->with};
        for (size_t s = 0; is_tried(ablation, row) && s < 2; s++) {
            uint32_t place = ablation_place(trial->sets, trial->count, both[s]);
            trial->sets[place] = both[s];
            trial->count += place == trial->count;
        }
    }
    return trial->sets != NULL;
}

/* The point of a set in another setting. */
static bool payoff_add_point(const struct ablation *ablation, uint32_t set,
                             const struct payoff_setting *setting, struct scenario *scenario,
                             struct error *why)
{
    uint32_t place = ablation_place(ablation->sets, ablation->scenario.points, set);
    char value[24];
    snprintf(value, sizeof value, "%llu", (unsigned long long)setting->value);
    struct node *map = node_copy(ablation->scenario.cases[place], why);
    bool good = map != NULL && node_set(map, setting->key, value, why) &&
                scenario_add_case(scenario, map, why);
    node_destroy(map);
    return good;
}

static bool payoff_make_points(const struct ablation *ablation, const struct scenario *scenario,
                               struct payoff_trial *trial, struct error *why)
{
    bool good = scenario_copy(scenario, &trial->scenario, why);
    node_remove(trial->scenario.root, "system");
    node_remove(trial->scenario.root, "mechanisms");
    for (uint32_t s = 0; good && s < ablation->setting_count; s++) {
        for (uint32_t i = 0; good && i < trial->count; i++) {
            good = payoff_add_point(ablation, trial->sets[i], &ablation->settings[s],
                                    &trial->scenario, why);
        }
    }
    trial->results =
        good ? array_zeroed(trial->scenario.points, sizeof *trial->results, why) : NULL;
    return trial->results != NULL;
}

/* ---- what they say ---- */

static struct ablation_payoff find_payoff(const struct ablation *ablation,
                                          const struct payoff_trial *trial,
                                          const struct ablation_row *row)
{
    for (uint32_t s = 0; s < ablation->setting_count; s++) {
        const struct result *results = &trial->results[s * trial->count];
        const struct result *without =
            &results[ablation_place(trial->sets, trial->count, row->without)];
        const struct result *with = &results[ablation_place(trial->sets, trial->count, row->with)];
        const struct cell *a = result_cell(without, COLUMN(step_us)),
                          *b = result_cell(with, COLUMN(step_us));
        if (a->set && b->set && (double)a->integer > (1 + ABLATION_NOTICED) * (double)b->integer) {
            return (struct ablation_payoff){PAYOFF_SAVES, ablation->settings[s],
                                            a->integer - b->integer};
        }
        if (b->set && result_out_of_memory(without)) {
            return (struct ablation_payoff){.kind = PAYOFF_FITS, .at = ablation->settings[s]};
        }
    }
    return (struct ablation_payoff){.kind = PAYOFF_NONE};
}

bool ablation_find_payoffs(const struct scenario *scenario, const struct ablation_options *options,
                           struct ablation *ablation, bool *interrupted, struct error *why)
{
    const struct sweep_options sweep = {.jobs = options->jobs,
                                        .runs = options->runs,
                                        .on_progress = options->on_payoffs,
                                        .context = options->context};
    struct payoff_trial trial = {.count = 0};
    bool mixed = node_get(scenario->root, "contexts") != NULL;
    bool good = payoff_list_sets(ablation, &trial, why);
    if (good && trial.count > 0 && ablation->setting_count > 0 && !mixed) {
        good = payoff_make_points(ablation, scenario, &trial, why) &&
               sweep_keep(&trial.scenario, &sweep, trial.results, &trial.done, interrupted, why);
        for (uint32_t i = 0; good && !*interrupted && i < ablation->row_count; i++) {
            const struct ablation_row *row = &ablation->rows[i];
            if (is_tried(ablation, row)) {
                ablation->payoffs[row->mechanism] = find_payoff(ablation, &trial, row);
            }
        }
    }
    payoff_release(&trial);
    return good;
}
