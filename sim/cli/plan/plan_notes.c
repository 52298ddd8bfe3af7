#include "cli/plan/plan_notes.h"

#include "answer/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 2048 };

bool plan_machines_differ(const struct planning *planning)
{
    bool differ = false;
    for (uint32_t i = 1; i < planning->count; i++) {
        differ = differ || strcmp(planning->candidates[i].machine, planning->candidates[0].machine);
    }
    return differ;
}

void plan_name_search(const struct planning *planning, const struct search *search,
                      char text[PLAN_NAME])
{
    snprintf(text, PLAN_NAME, "%s%s%s", search->candidate->system,
             plan_machines_differ(planning) ? " on " : "",
             plan_machines_differ(planning) ? search->candidate->machine : "");
}

/* ---- verdicts ---- */

bool plan_note_near(const struct target *target, const struct result *result, const char *name,
                    char text[PLAN_NOTE])
{
    char value[TARGET_TEXT], low[TARGET_TEXT], high[TARGET_TEXT];
    const double *band = target_band(target, result);
    double least, most;
    if (!target_is_near(target, result) || !target_range(target, result, &least, &most)) {
        return false;
    }
    snprintf(text, PLAN_NOTE,
             "%s may still %s %s: with the error band of %+.0f … %+.0f %%, its %s may be "
             "anything from %s to %s",
             name, target_violation(target, result) > 0 ? "meet" : "miss", target->text,
             100 * band[0], 100 * band[1], target_format(target, result, value),
             target_format_value(target, least, low), target_format_value(target, most, high));
    return true;
}

static void print_verdicts(const struct planning *planning, const struct targets *targets,
                           const struct search *search, uint32_t value, FILE *out)
{
    char name[PLAN_NAME], note[PLAN_NOTE];
    plan_name_search(planning, search, name);
    for (uint32_t i = 0; i < targets->count; i++) {
        if (plan_note_near(&targets->all[i], &search->results[value], name, note)) {
            table_line("note: ", note, out);
        }
    }
}

/* ---- families of recordings ---- */

/* A target is met if the median family meets it; say where others do not. */
static void print_families(const struct planning *planning, const struct targets *targets,
                           FILE *out)
{
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        char name[PLAN_NAME], line[LINE];
        if (search->found == PLANNING_NONE) {
            continue;
        }
        const struct result *result = &search->results[search->found];
        uint32_t count = result->family_count, met = targets_count_families(targets, result);
        if (met < count) {
            plan_name_search(planning, search, name);
            snprintf(line, sizeof line,
                     "%s meets the targets with the demands of the median family, but only for %u "
                     "of %u families",
                     name, met, count);
            table_line("note: ", line, out);
        }
    }
}

/* ---- attention mass ---- */

static void print_mass(const struct planning *planning, const struct targets *targets,
                       const struct search *winner, FILE *out)
{
    const struct cell *cells = winner->results[winner->found].cells;
    const struct cell *mass = &cells[COLUMN_MASS_RECALL], *lossless = &cells[COLUMN_LOSSLESS];
    char line[LINE], name[PLAN_NAME];
    bool lossy = lossless->set && strcmp(lossless->text, "lossy") == 0;
    if (!lossy || targets_judge(targets, COLUMN_MASS_RECALL)) {
        return;
    }
    plan_name_search(planning, winner, name);
    if (mass->set) {
        snprintf(line, sizeof line,
                 "%s is lossy: it attends to %.1f %% of the attention mass; to require more, add "
                 "'mass_recall>=SHARE' to --target, such as 0.9",
                 name, 100 * mass->real);
    } else {
        snprintf(line, sizeof line, "%s is lossy, and its share of the attention mass is not known",
                 name);
    }
    table_line("note: ", line, out);
}

/* ---- arrivals ---- */

static void print_draw(const struct planning *planning, FILE *out)
{
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        bool judged = search->found != PLANNING_NONE || search->nearest != PLANNING_NONE;
        if (judged && strcmp(search->axis.key, "rate") == 0) {
            table_line(
                "note: ",
                "the arrivals at each rate are one random draw, from the scenario's seed; "
                "another seed may find another rate. 'simulate --replications 20' of the scenario "
                "found says how far its figures spread",
                out);
            return;
        }
    }
}

static void print_extended(const struct planning *planning, FILE *out)
{
    char line[LINE];
    if (planning->requests > 0) {
        snprintf(line, sizeof line,
                 "the workload was extended to %" PRIu64 " requests, so that they arrive for ten "
                 "times as long as one takes; 'requests' or 'limit' states another number",
                 planning->requests);
        table_line("note: ", line, out);
    }
}

void plan_notes_print(const struct planning *planning, const struct targets *targets, FILE *out)
{
    if (planning->winner != PLANNING_NONE) {
        const struct search *winner = &planning->searches[planning->winner];
        print_verdicts(planning, targets, winner, winner->found, out);
        print_mass(planning, targets, winner, out);
    }
    if (planning->nearest != PLANNING_NONE) {
        const struct search *missed = &planning->searches[planning->nearest];
        print_verdicts(planning, targets, missed, missed->nearest, out);
    }
    print_families(planning, targets, out);
    print_extended(planning, out);
    print_draw(planning, out);
}
