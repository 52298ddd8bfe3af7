#include "cli/plan/plan_answer.h"

#include "base/text.h"
#include "answer/figures.h"
#include "cli/plan/plan_notes.h"
#include "cli/plan/violation.h"
#include "study/plan/best.h"
#include "study/plan/winner.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 64, TIES_NAMED = 5 };

const char *plan_axis(const struct planning *planning)
{
    for (uint32_t i = 0; i < planning->count; i++) {
        if (planning->searches[i].axis.count > 0) {
            return axis_title(&planning->searches[i].axis);
        }
    }
    return "budget";
}

static bool is_numeric(const struct planning *planning)
{
    bool numeric = true;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct axis *axis = &planning->searches[i].axis;
        numeric = numeric && (axis->count == 0 || axis->numeric);
    }
    return numeric;
}

void plan_goal(const struct planning *planning, char text[PLAN_GOAL])
{
    if (planning->by_figure) {
        snprintf(text, PLAN_GOAL, "%s %s over %s", best_is_least(planning->best) ? "least" : "most",
                 column_kinds[planning->best].name, plan_axis(planning));
        return;
    }
    const char *liked = is_numeric(planning) ? planning->maximise ? "largest" : "least"
                        : planning->maximise ? "last"
                                             : "first";
    snprintf(text, PLAN_GOAL, "%s %s", liked, plan_axis(planning));
}

/* ---- met ---- */

/* The answer for a system without a budget. */
static void say_fixed(const struct search *search, char text[PLAN_ANSWER])
{
    const struct result *result = &search->results[search->found];
    char all[ANSWER_SIZE], part[ANSWER_SIZE];
    const char *hbm = answer_column(result, COLUMN_HBM_BYTES, ANSWER_BYTES, all);
    const char *kv = hbm == NULL ? NULL : answer_column(result, COLUMN_HBM_KV, ANSWER_BYTES, part);
    text_append(text, PLAN_ANSWER, ": there is no budget to choose, because %s", search->fixed);
    if (hbm != NULL) {
        text_append(text, PLAN_ANSWER, "; it takes %s of HBM", hbm);
    }
    if (kv != NULL) {
        text_append(text, PLAN_ANSWER, ", %s of it KV", kv);
    }
}

/* The candidates that reach the same value: the first few by name, the others as a number. */
static void name_ties(const struct planning *planning, uint32_t ties, const char *first,
                      char text[PLAN_ANSWER])
{
    char name[PLAN_NAME];
    uint32_t said = 0, named = ties <= TIES_NAMED ? ties : TIES_NAMED - 1;
    for (uint32_t i = 0; i < planning->count && said < named; i++) {
        if (winner_ties(planning, &planning->searches[i])) {
            plan_name_search(planning, &planning->searches[i], name);
            const char *before = said == 0 ? first : said + 1 == ties ? " and " : ", ";
            text_append(text, PLAN_ANSWER, "%s%s", before, name);
            said++;
        }
    }
    if (named < ties) {
        text_append(text, PLAN_ANSWER, " and %u more", ties - named);
    }
}

static uint32_t plan_answer_count_ties(const struct planning *planning)
{
    uint32_t ties = 0;
    for (uint32_t i = 0; i < planning->count; i++) {
        ties += winner_ties(planning, &planning->searches[i]) ? 1 : 0;
    }
    return ties;
}

static void plan_answer_say_ties(const struct planning *planning, char text[PLAN_ANSWER])
{
    uint32_t ties = plan_answer_count_ties(planning);
    name_ties(planning, ties, ties > 1 ? ", as do " : ", as does ", text);
}

/* Figures that are too close to call. */
static void say_near(const struct planning *planning, char text[PLAN_ANSWER])
{
    uint32_t ties = plan_answer_count_ties(planning);
    name_ties(planning, ties, "; too close to call: ", text);
}

/* The axis itself, not a target, limits the value. */
static void say_end(const struct planning *planning, const struct search *search,
                    char text[PLAN_ANSWER])
{
    bool more =
        planning->maximise && search->axis.numeric && strcmp(search->axis.key, "batch") != 0;
    text_append(text, PLAN_ANSWER, "; the axis %s there", planning->maximise ? "ends" : "begins");
    if (more) {
        text_append(text, PLAN_ANSWER, "; for higher values: --maximise %s=FROM:TO",
                    search->axis.key);
    }
}

static void plan_answer_say_next(const struct planning *planning, const struct targets *targets,
                                 const struct search *search, char text[PLAN_ANSWER])
{
    char before[TEXT], violation[VIOLATION_TEXT];
    violation_describe(targets, planning->best, &search->results[search->found - 1], violation);
    text_append(text, PLAN_ANSWER, "; the value %s it, %s, %s",
                planning->maximise ? "above" : "below",
                search_label(search, planning->maximise, search->found - 1, before, sizeof before),
                violation);
}

/* What a lossy winner attends to: the answer must not sound as if nothing were lost. */
static void say_mass(const struct result *result, char text[PLAN_ANSWER])
{
    const struct cell *mass = &result->cells[COLUMN_MASS_RECALL];
    const struct cell *lossless = &result->cells[COLUMN_LOSSLESS];
    if (lossless->set && strcmp(lossless->text, "lossy") == 0 && mass->set) {
        text_append(text, PLAN_ANSWER, ", which attends to %.0f %% of the attention mass,",
                    100 * mass->real);
    }
}

/* Of a search for the best figure: the figure, and where the axis has it. */
static void plan_answer_say_best(const struct planning *planning, char text[PLAN_ANSWER])
{
    const struct search *search = &planning->searches[planning->winner];
    const struct target figure = {.column = planning->best};
    char name[PLAN_NAME], value[TEXT], best[TARGET_TEXT];
    const char *label =
        search_label(search, planning->maximise, search->found, value, sizeof value);
    plan_name_search(planning, search, name);
    text_append(text, PLAN_ANSWER, "%s", name);
    say_mass(&search->results[search->found], text);
    text_append(text, PLAN_ANSWER, " has the %s %s, %s",
                best_is_least(planning->best) ? "least" : "most", column_kinds[planning->best].name,
                target_format(&figure, &search->results[search->found], best));
    if (label != NULL) {
        text_append(text, PLAN_ANSWER, ", with ");
        text_append_value(text, PLAN_ANSWER, plan_axis(planning), label);
    }
    say_near(planning, text);
}

static void say_winner(const struct planning *planning, const struct targets *targets,
                       char text[PLAN_ANSWER])
{
    const struct search *search = &planning->searches[planning->winner];
    char name[PLAN_NAME], value[TEXT];
    if (planning->by_figure) {
        plan_answer_say_best(planning, text);
        return;
    }
    plan_name_search(planning, search, name);
    if (search->fixed != NULL) {
        text_append(text, PLAN_ANSWER, "%s", name);
        say_mass(&search->results[search->found], text);
        text_append(text, PLAN_ANSWER, " meets all targets as it is");
        say_fixed(search, text);
        return;
    }
    text_append(text, PLAN_ANSWER, "%s", name);
    say_mass(&search->results[search->found], text);
    text_append(text, PLAN_ANSWER, " meets all targets with ");
    text_append_value(text, PLAN_ANSWER, plan_axis(planning),
                      search_label(search, planning->maximise, search->found, value, sizeof value));
    plan_answer_say_ties(planning, text);
    if (search->found == 0) {
        say_end(planning, search, text);
    } else {
        plan_answer_say_next(planning, targets, search, text);
    }
}

/* ---- not met ---- */

/* No value has figures to judge: the reason of the first candidate stands for all. */
static void say_impossible(const struct planning *planning, const struct targets *targets,
                           char text[PLAN_ANSWER])
{
    char name[PLAN_NAME], violation[VIOLATION_TEXT];
    for (uint32_t i = 0; i < planning->count && text[0] == '\0'; i++) {
        const struct search *search = &planning->searches[i];
        if (search->grid.count > 0) {
            plan_name_search(planning, search, name);
            violation_describe(targets, planning->best, &search->results[0], violation);
            snprintf(text, PLAN_ANSWER, "out of reach: no run has %s; %s %s",
                     targets->count > 0 ? "all the figures that the targets need"
                                        : "the figure that is compared",
                     name, violation);
        }
    }
}

static void say_nearest(const struct planning *planning, const struct targets *targets,
                        char text[PLAN_ANSWER])
{
    const struct search *search = &planning->searches[planning->nearest];
    char name[PLAN_NAME], value[TEXT], violation[VIOLATION_TEXT];
    const char *label =
        search_label(search, planning->maximise, search->nearest, value, sizeof value);
    plan_name_search(planning, search, name);
    violation_describe(targets, planning->best, &search->results[search->nearest], violation);
    text_append(text, PLAN_ANSWER, "out of reach: the nearest is %s", name);
    if (label != NULL) {
        text_append(text, PLAN_ANSWER, " with ");
        text_append_value(text, PLAN_ANSWER, plan_axis(planning), label);
    }
    text_append(text, PLAN_ANSWER, ", which %s", violation);
}

void plan_answer(const struct planning *planning, const struct targets *targets,
                 char text[PLAN_ANSWER])
{
    text[0] = '\0';
    (planning->winner != PLANNING_NONE    ? say_winner
     : planning->nearest != PLANNING_NONE ? say_nearest
                                          : say_impossible)(planning, targets, text);
}
