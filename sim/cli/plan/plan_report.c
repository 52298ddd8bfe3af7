#include "cli/plan/plan_report.h"

#include "base/text.h"
#include "cli/frame/left_out.h"
#include "answer/table.h"
#include "cli/plan/plan_answer.h"
#include "cli/plan/plan_notes.h"
#include "cli/plan/shortfall.h"
#include "cli/runs/runs_notes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 64, LINE = SHORTFALL_TEXT };

/* ---- what follows ---- */

/* Is the nearest value the lowest one tried, while the axis may have lower ones that help? */
static bool is_least_tried(const struct planning *planning, const struct quest *quest)
{
    return planning->maximise && quest->fixed == NULL && quest->axis.numeric &&
           quest->axis.ranges && quest->nearest + 1 == quest->search.count &&
           strcmp(quest->axis.key, "batch") != 0 && !search_is_flat(&quest->search);
}

/* More of a thing than was tried may do, such as more replicas. */
static bool may_need_more(const struct planning *planning, const struct quest *quest)
{
    return !planning->maximise && !planning->by_figure && quest->fixed == NULL &&
           quest->axis.numeric && quest->axis.around;
}

/* The values that were tried, and how to try others. */
static void plan_report_say_range(const struct planning *planning, const struct quest *quest,
                                  char line[LINE])
{
    char from[TEXT], to[TEXT];
    uint32_t last = quest->axis.count - 1;
    snprintf(line, LINE, "only %s to %s were tried; for other values: --minimise %s=FROM:TO",
             quest_label(quest, planning->maximise, 0, from, sizeof from),
             quest_label(quest, planning->maximise, last, to, sizeof to), quest->axis.key);
}

static void plan_report_print_answer(const struct planning *planning, const struct targets *targets,
                                     FILE *out)
{
    char text[PLAN_ANSWER];
    plan_answer(planning, targets, text);
    table_line("", text, out);
    if (planning->winner != PLANNING_NONE || planning->nearest == PLANNING_NONE) {
        return;
    }
    const struct quest *quest = &planning->quests[planning->nearest];
    if (is_least_tried(planning, quest)) {
        snprintf(text, sizeof text,
                 "the axis begins there; for lower values: --maximise %s=FROM:TO", quest->axis.key);
        table_line("", text, out);
    }
    if (may_need_more(planning, quest)) {
        char line[LINE];
        plan_report_say_range(planning, quest, line);
        table_line("", line, out);
    }
}

/* What is unknown about the values that were not tried; false if nothing is. */
static bool say_untried(const struct quest *quest, char line[LINE])
{
    const struct search *search = &quest->search;
    if (search->count == 0 || search->tried == search->count) {
        return false;
    }
    bool flat = quest->found == SEARCH_NONE && search_is_flat(search);
    if (quest->nearest == SEARCH_NONE) {
        snprintf(line, LINE,
                 "no tried value has the figures that the targets need; others may "
                 "have them");
    } else if (flat) {
        snprintf(line, LINE,
                 "all tried values, from one end of the axis to the other, miss the targets by "
                 "the same amount");
    } else if (search->uneven) {
        snprintf(line, LINE,
                 "the shortfall does not shrink steadily along the axis, so an untried value may "
                 "%s",
                 quest->found != SEARCH_NONE ? "do better" : "meet the targets");
    }
    return quest->nearest == SEARCH_NONE || flat || search->uneven;
}

static void print_search(const struct planning *planning, FILE *out)
{
    struct planning_tried tried = {0, 0};
    planning_count_tried(planning, &tried);
    fprintf(out, "%" PRIu64 " of %" PRIu64 " value%s tried\n", tried.runs, tried.values,
            tried.values == 1 ? " was" : "s were");
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct quest *quest = &planning->quests[i];
        char said[LINE], line[3 * LINE], name[LINE];
        if (say_untried(quest, said)) {
            plan_name_quest(planning, quest, name);
            snprintf(line, sizeof line, "%s: %s", name, said);
            table_line("", line, out);
        }
    }
}

static void plan_report_print_title(const struct planning *planning, const struct targets *targets,
                                    FILE *out)
{
    char goal[PLAN_GOAL], text[TARGETS_TEXT];
    plan_goal(planning, goal);
    fprintf(out, "%s%s%s\n\n", goal, targets->count > 0 ? " for " : "",
            targets_text(targets, text));
}

static void plan_report_take_notes(const struct planning *planning, struct runs_notes *notes)
{
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct quest *quest = &planning->quests[i];
        uint32_t value = quest->found != PLANNING_NONE ? quest->found : quest->nearest;
        if (value != PLANNING_NONE) {
            runs_notes_add(notes, &quest->results[value]);
        }
    }
}

bool plan_report(const struct planning *planning, const struct targets *targets,
                 const struct table_view *view, FILE *out, struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    bool good = notes != NULL;
    if (good) {
        plan_report_take_notes(planning, notes);
        runs_notes_print_above(notes, planning->quests[0].candidate->scenario.root, out);
        plan_report_print_title(planning, targets, out);
        struct frame *frame = plan_frame(planning, targets, true, why);
        good = frame != NULL && frame_print(frame, view, out, why);
        frame_destroy(frame);
    }
    if (good) {
        fputc('\n', out);
        plan_report_print_answer(planning, targets, out);
        print_search(planning, out);
        plan_notes_print(planning, targets, out);
        left_out_print(planning->candidates, planning->count, out);
        runs_notes_print_below(notes, view->why, out);
    }
    runs_notes_destroy(notes);
    return good;
}
