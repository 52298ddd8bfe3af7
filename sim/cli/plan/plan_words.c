#include "cli/plan/plan_words.h"

#include "core/text.h"
#include "cli/plan/violation.h"
#include "study/plan/target.h"
#include "study/plan/winner.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 64, TIES_NAMED = 5 };

/* ---- names ---- */

bool plan_machines_differ(const struct planning *planning)
{
    bool differ = false;
    for (uint32_t i = 1; i < planning->count; i++) {
        differ = differ || strcmp(planning->candidates[i].machine, planning->candidates[0].machine);
    }
    return differ;
}

void plan_name(const struct planning *planning, const struct search *search, char text[PLAN_NAME])
{
    bool differ = plan_machines_differ(planning);
    snprintf(text, PLAN_NAME, "%s%s%s", search->candidate->system, differ ? " on " : "",
             differ ? search->candidate->machine : "");
}

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

static const char *most_or_least(const struct planning *planning)
{
    return planning->best->best == BEST_LEAST ? "least" : "most";
}

void plan_goal(const struct planning *planning, char text[PLAN_GOAL])
{
    if (planning->by_figure) {
        snprintf(text, PLAN_GOAL, "%s %s over %s", most_or_least(planning), planning->best->name,
                 plan_axis(planning));
        return;
    }
    const char *liked = is_numeric(planning) ? planning->maximise ? "largest" : "least"
                        : planning->maximise ? "last"
                                             : "first";
    snprintf(text, PLAN_GOAL, "%s %s", liked, plan_axis(planning));
}

/* ---- the answer ---- */

static void say_name(const struct planning *planning, const struct search *search,
                     char text[PLAN_ANSWER])
{
    char name[PLAN_NAME];
    plan_name(planning, search, name);
    text_append(text, PLAN_ANSWER, "%s", name);
}

/* What a lossy winner attends to: the answer must not sound as if nothing were lost. */
static void say_mass(const struct result *result, char text[PLAN_ANSWER])
{
    const struct cell *mass = result_cell(result, COLUMN(mass_recall));
    const struct cell *lossless = result_cell(result, COLUMN(lossless));
    if (!lossless->set || strcmp(lossless->text, "lossy") != 0) {
        return;
    }
    if (mass->set) {
        text_append(text, PLAN_ANSWER, ", which attends to %.0f %% of the attention mass,",
                    100 * mass->real);
    } else {
        text_append(text, PLAN_ANSWER, ", which is lossy,");
    }
}

/* Nothing of a candidate without values to choose. */
static void say_value(const struct planning *planning, const struct search *search,
                      const char *before, char text[PLAN_ANSWER])
{
    char value[TEXT];
    const char *label =
        search_label(search, planning->maximise, search_shown(search), value, sizeof value);
    if (label != NULL) {
        text_append(text, PLAN_ANSWER, "%s", before);
        text_append_value(text, PLAN_ANSWER, plan_axis(planning), label);
    }
}

static void say_violation(const struct planning *planning, const struct targets *targets,
                          const struct result *result, char text[PLAN_ANSWER])
{
    char violation[VIOLATION_TEXT];
    violation_describe(targets, planning->best, result, violation);
    text_append(text, PLAN_ANSWER, "%s", violation);
}

/* The candidates that reach the same value, or a figure too close to call: the first few by name,
 * the others as a number. */
static void say_ties(const struct planning *planning, char text[PLAN_ANSWER])
{
    uint32_t ties = 0, said = 0;
    for (uint32_t i = 0; i < planning->count; i++) {
        ties += winner_ties(planning, &planning->searches[i]) ? 1 : 0;
    }
    uint32_t named = ties <= TIES_NAMED ? ties : TIES_NAMED - 1;
    for (uint32_t i = 0; i < planning->count && said < named; i++) {
        if (winner_ties(planning, &planning->searches[i])) {
            text_append(text, PLAN_ANSWER, "%s",
                        said > 0              ? said + 1 == ties ? " and " : ", "
                        : planning->by_figure ? "; too close to call: "
                        : ties > 1            ? ", as do "
                                              : ", as does ");
            say_name(planning, &planning->searches[i], text);
            said++;
        }
    }
    if (named < ties) {
        text_append(text, PLAN_ANSWER, " and %u more", ties - named);
    }
}

/* How to try other values than those of a usual range. */
static void say_others(const struct planning *planning, const struct search *search,
                       char text[PLAN_ANSWER])
{
    text_append(text, PLAN_ANSWER, "; for %s values: --%s %s=FROM:TO",
                search_shown(search) == 0 ? "higher" : "other",
                planning->maximise ? "maximise" : "minimise", search->axis.key);
}

/* What the next better value misses; or that the axis itself, not a target, limits the value. */
static void say_next(const struct planning *planning, const struct targets *targets,
                     const struct search *search, char text[PLAN_ANSWER])
{
    char before[TEXT];
    uint32_t next = search_next_miss(search);
    if (next != PLANNING_NONE) {
        text_append(text, PLAN_ANSWER, "; the %s %s it, %s, ",
                    next + 1 == search->found ? "value" : "next value tried",
                    planning->maximise ? "above" : "below",
                    search_label(search, planning->maximise, next, before, sizeof before));
        say_violation(planning, targets, &search->results[next], text);
        return;
    }
    text_append(text, PLAN_ANSWER, "; the axis %s there", planning->maximise ? "ends" : "begins");
    if (planning->maximise && search->axis.numeric && strcmp(search->axis.key, "batch") != 0) {
        say_others(planning, search, text);
    }
}

static void say_winner(const struct planning *planning, const struct targets *targets,
                       char text[PLAN_ANSWER])
{
    const struct search *search = &planning->searches[planning->winner];
    const struct target figure = {.column = planning->best};
    char best[TARGET_TEXT];
    say_name(planning, search, text);
    say_mass(&search->results[search->found], text);
    if (planning->by_figure) {
        text_append(text, PLAN_ANSWER, " has the %s %s, %s", most_or_least(planning),
                    planning->best->name,
                    target_format(&figure, &search->results[search->found], best));
        say_value(planning, search, ", with ", text);
        say_ties(planning, text);
    } else if (search->fixed != NULL) {
        text_append(text, PLAN_ANSWER, " meets all targets as it is; it has no budget: %s",
                    search->fixed);
    } else {
        text_append(text, PLAN_ANSWER, " meets all targets");
        say_value(planning, search, " with ", text);
        say_ties(planning, text);
        say_next(planning, targets, search, text);
    }
}

/* May values outside the usual range do, such as more replicas, or a lower rate than the lowest? */
static bool is_range_short(const struct planning *planning, const struct search *search)
{
    bool lowest = search->axis.ranges && search->nearest + 1 == search->grid.count &&
                  strcmp(search->axis.key, "batch") != 0 && !grid_is_flat(&search->grid);
    return search->fixed == NULL && search->axis.numeric && !planning->by_figure &&
           (planning->maximise ? lowest : search->axis.around);
}

/* Which of several targets no value meets; or that they only exclude each other. */
static void say_open(const struct planning *planning, const struct targets *targets,
                     char text[PLAN_ANSWER])
{
    struct targets open;
    char names[TARGETS_TEXT];
    reachable_open(planning, targets, &open);
    if (targets->count > 1 && open.count == 0) {
        text_append(text, PLAN_ANSWER, "each target is met by some value, all together by none; ");
    } else if (targets->count > 1) {
        text_append(text, PLAN_ANSWER, "no value tried meets %s; ", targets_text(&open, names));
    }
}

static void say_nearest(const struct planning *planning, const struct targets *targets,
                        char text[PLAN_ANSWER])
{
    const struct search *search = &planning->searches[planning->nearest];
    char from[TEXT], to[TEXT];
    text_append(text, PLAN_ANSWER, "out of reach: ");
    say_open(planning, targets, text);
    text_append(text, PLAN_ANSWER, "the nearest is ");
    say_name(planning, search, text);
    say_value(planning, search, " with ", text);
    text_append(text, PLAN_ANSWER, ", which ");
    say_violation(planning, targets, &search->results[search->nearest], text);
    if (is_range_short(planning, search)) {
        uint32_t last = search->axis.count - 1;
        text_append(text, PLAN_ANSWER, "; only %s to %s were tried",
                    search_label(search, false, 0, from, sizeof from),
                    search_label(search, false, last, to, sizeof to));
        say_others(planning, search, text);
    }
}

/* No value has figures to judge: the reason of the first candidate stands for all. */
static void say_impossible(const struct planning *planning, const struct targets *targets,
                           char text[PLAN_ANSWER])
{
    uint32_t first = 0;
    while (planning->searches[first].grid.count == 0) { /* one has some: planning_run() succeeded */
        first++;
    }
    text_append(text, PLAN_ANSWER, "out of reach: no run has %s; ",
                targets->count > 0 ? "all the figures that the targets need"
                                   : "the figure that is compared");
    say_name(planning, &planning->searches[first], text);
    text_append(text, PLAN_ANSWER, " ");
    say_violation(planning, targets, &planning->searches[first].results[0], text);
}

void plan_answer(const struct planning *planning, const struct targets *targets,
                 char text[PLAN_ANSWER])
{
    text[0] = '\0';
    (planning->winner != PLANNING_NONE    ? say_winner
     : planning->nearest != PLANNING_NONE ? say_nearest
                                          : say_impossible)(planning, targets, text);
}
