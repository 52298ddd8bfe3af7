#include "cli/plan_answer.h"

#include "cli/figures.h"
#include "cli/plan_notes.h"
#include "cli/shortfall.h"

#include <stdio.h>
#include <string.h>

enum { TEXT = 64 };

const char *plan_axis(const struct planning *planning)
{
    for (uint32_t i = 0; i < planning->count; i++) {
        if (planning->quests[i].axis.count > 0) {
            return axis_title(&planning->quests[i].axis);
        }
    }
    return "budget";
}

static bool is_numeric(const struct planning *planning)
{
    bool numeric = true;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct axis *axis = &planning->quests[i].axis;
        numeric = numeric && (axis->count == 0 || axis->numeric);
    }
    return numeric;
}

void plan_goal(const struct planning *planning, char text[PLAN_GOAL])
{
    const char *liked = is_numeric(planning) ? planning->maximise ? "largest" : "least"
                        : planning->maximise ? "last"
                                             : "first";
    snprintf(text, PLAN_GOAL, "%s %s", liked, plan_axis(planning));
}

/* ---- met ---- */

/* Of a system without a budget. */
static void say_fixed(const struct quest *quest, const char *name, char text[PLAN_ANSWER])
{
    const struct cell *cells = quest->results[quest->found].cells;
    char all[FIGURE], part[FIGURE];
    const char *hbm = figure_bytes(&cells[COLUMN_HBM_BYTES], all);
    const char *kv = hbm == NULL ? NULL : figure_bytes(&cells[COLUMN_HBM_KV], part);
    snprintf(text, PLAN_ANSWER,
             "%s meets all targets as it is: there is no budget to choose, for %s%s%s%s%s%s", name,
             quest->fixed, hbm != NULL ? "; it takes " : "", hbm != NULL ? hbm : "",
             hbm != NULL ? " of HBM" : "", kv != NULL ? ", of which KV " : "",
             kv != NULL ? kv : "");
}

/* Where the axis itself is what bounds the value. */
static void say_end(const struct planning *planning, const struct quest *quest, char *text,
                    size_t size)
{
    bool more = planning->maximise && quest->axis.numeric && strcmp(quest->axis.key, "batch") != 0;
    snprintf(text, size, ", which is where the axis %s%s%s%s",
             planning->maximise ? "ends" : "begins", more ? "; for more: --maximise " : "",
             more ? quest->axis.key : "", more ? "=FROM:TO" : "");
}

static void say_winner(const struct planning *planning, const struct targets *targets,
                       char text[PLAN_ANSWER])
{
    const struct quest *quest = &planning->quests[planning->winner];
    char name[PLAN_NAME], value[TEXT], before[TEXT], shortfall[SHORTFALL_TEXT];
    plan_name_quest(planning, quest, name);
    if (quest->fixed != NULL) {
        say_fixed(quest, name, text);
        return;
    }
    size_t used = (size_t)snprintf(
        text, PLAN_ANSWER, "%s meets all targets with a %s of %s", name, plan_axis(planning),
        quest_label(quest, planning->maximise, quest->found, value, sizeof value));
    if (quest->found == 0) {
        say_end(planning, quest, text + used, PLAN_ANSWER - used);
    } else {
        shortfall_describe(targets, &quest->results[quest->found - 1], shortfall);
        snprintf(text + used, PLAN_ANSWER - used, "; the value %s it, %s, %s",
                 planning->maximise ? "above" : "below",
                 quest_label(quest, planning->maximise, quest->found - 1, before, sizeof before),
                 shortfall);
    }
}

/* ---- not met ---- */

/* Of no value is there a figure to judge: the first candidate says why. */
static void say_impossible(const struct planning *planning, const struct targets *targets,
                           char text[PLAN_ANSWER])
{
    char name[PLAN_NAME], shortfall[SHORTFALL_TEXT];
    text[0] = '\0';
    for (uint32_t i = 0; i < planning->count && text[0] == '\0'; i++) {
        const struct quest *quest = &planning->quests[i];
        if (quest->search.count > 0) {
            plan_name_quest(planning, quest, name);
            shortfall_describe(targets, &quest->results[0], shortfall);
            snprintf(text, PLAN_ANSWER, "out of reach: no run has all figures asked for; %s %s",
                     name, shortfall);
        }
    }
}

static void say_nearest(const struct planning *planning, const struct targets *targets,
                        char text[PLAN_ANSWER])
{
    const struct quest *quest = &planning->quests[planning->nearest];
    char name[PLAN_NAME], value[TEXT], shortfall[SHORTFALL_TEXT];
    const char *label = quest_label(quest, planning->maximise, quest->nearest, value, sizeof value);
    plan_name_quest(planning, quest, name);
    shortfall_describe(targets, &quest->results[quest->nearest], shortfall);
    snprintf(text, PLAN_ANSWER, "out of reach: nearest is %s%s%s%s%s, which %s", name,
             label != NULL ? " with a " : "", label != NULL ? plan_axis(planning) : "",
             label != NULL ? " of " : "", label != NULL ? label : "", shortfall);
}

void plan_answer(const struct planning *planning, const struct targets *targets,
                 char text[PLAN_ANSWER])
{
    (planning->winner != PLANNING_NONE    ? say_winner
     : planning->nearest != PLANNING_NONE ? say_nearest
                                          : say_impossible)(planning, targets, text);
}
