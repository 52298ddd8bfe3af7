#include "cli/plan/plan_report.h"

#include "base/text.h"
#include "cli/frame/left_out.h"
#include "answer/table.h"
#include "cli/plan/plan_answer.h"
#include "cli/plan/plan_notes.h"
#include "cli/plan/violation.h"
#include "cli/runs/runs_notes.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 64, LINE = VIOLATION_TEXT };

/* ---- what follows ---- */

/* Is the nearest value the lowest one tried, while the axis may have lower ones that help? */
static bool is_least_tried(const struct planning *planning, const struct search *search)
{
    return planning->maximise && search->fixed == NULL && search->axis.numeric &&
           search->axis.ranges && search->nearest + 1 == search->grid.count &&
           strcmp(search->axis.key, "batch") != 0 && !grid_is_flat(&search->grid);
}

/* More of a thing than was tried may do, such as more replicas. */
static bool may_need_more(const struct planning *planning, const struct search *search)
{
    return !planning->maximise && !planning->by_figure && search->fixed == NULL &&
           search->axis.numeric && search->axis.around;
}

/* The values that were tried, and how to try others. */
static void plan_report_say_range(const struct planning *planning, const struct search *search,
                                  char line[LINE])
{
    char from[TEXT], to[TEXT];
    uint32_t last = search->axis.count - 1;
    snprintf(line, LINE, "only %s to %s were tried; for other values: --minimise %s=FROM:TO",
             search_label(search, planning->maximise, 0, from, sizeof from),
             search_label(search, planning->maximise, last, to, sizeof to), search->axis.key);
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
    const struct search *search = &planning->searches[planning->nearest];
    if (is_least_tried(planning, search)) {
        snprintf(text, sizeof text,
                 "the axis begins there; for lower values: --maximise %s=FROM:TO",
                 search->axis.key);
        table_line("", text, out);
    }
    if (may_need_more(planning, search)) {
        char line[LINE];
        plan_report_say_range(planning, search, line);
        table_line("", line, out);
    }
}

/* What is unknown about the values that were not tried; false if nothing is. */
static bool say_untried(const struct search *search, char line[LINE])
{
    const struct grid *grid = &search->grid;
    if (grid->count == 0 || grid->tried == grid->count) {
        return false;
    }
    bool flat = search->found == GRID_NONE && grid_is_flat(grid);
    if (search->nearest == GRID_NONE) {
        snprintf(line, LINE,
                 "no tried value has the figures that the targets need; others may "
                 "have them");
    } else if (flat) {
        snprintf(line, LINE,
                 "all tried values, from one end of the axis to the other, miss the targets by "
                 "the same amount");
    } else if (grid->uneven) {
        snprintf(line, LINE,
                 "the distance to the targets does not shrink steadily along the axis, so an "
                 "untried value may %s",
                 search->found != GRID_NONE ? "do better" : "meet the targets");
    }
    return search->nearest == GRID_NONE || flat || grid->uneven;
}

static void print_search(const struct planning *planning, FILE *out)
{
    struct planning_tried tried = {0, 0};
    planning_count_tried(planning, &tried);
    fprintf(out, "%" PRIu64 " of %" PRIu64 " value%s tried\n", tried.runs, tried.values,
            tried.values == 1 ? " was" : "s were");
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        char said[LINE], line[3 * LINE], name[LINE];
        if (say_untried(search, said)) {
            plan_name_search(planning, search, name);
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
        const struct search *search = &planning->searches[i];
        uint32_t value = search->found != PLANNING_NONE ? search->found : search->nearest;
        if (value != PLANNING_NONE) {
            runs_notes_add(notes, &search->results[value]);
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
        runs_notes_print_above(notes, planning->searches[0].candidate->scenario.root, out);
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
