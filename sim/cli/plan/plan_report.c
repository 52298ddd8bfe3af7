/* A plan for people: its table, its answer, and what to know before relying on it. */
#include "cli/plan/plan_report.h"

#include "tables/table.h"
#include "core/text.h"
#include "cli/frame/left_out.h"
#include "cli/plan/plan_words.h"

#include <inttypes.h>

/* Is anything unknown about the values that were not tried? */
static bool is_unsettled(const struct search *search)
{
    const struct grid *grid = &search->grid;
    bool flat = search->found == PLANNING_NONE && grid_is_flat(grid);
    return grid->tried < grid->count &&
           (search_shown(search) == PLANNING_NONE || flat || grid->uneven);
}

static void plan_report_print_tried(const struct planning *planning, FILE *out)
{
    struct planning_tried tried = {0, 0};
    char line[PLAN_ANSWER] = "", name[PLAN_NAME];
    planning_count_tried(planning, &tried);
    text_append(line, sizeof line, "%" PRIu64 " of %" PRIu64 " value%s tried", tried.runs,
                tried.values, tried.values == 1 ? " was" : "s were");
    for (uint32_t i = 0, count = 0; i < planning->count; i++) {
        if (is_unsettled(&planning->searches[i])) {
            plan_name(planning, &planning->searches[i], name);
            text_append(line, sizeof line, "%s%s",
                        count++ == 0 ? "; an untried one may do better for " : ", ", name);
        }
    }
    table_line("", line, out);
}

static void plan_report_print_title(const struct planning *planning, const struct targets *targets,
                                    FILE *out)
{
    char goal[PLAN_GOAL], text[TARGETS_TEXT];
    plan_goal(planning, goal);
    fprintf(out, "%s%s%s\n\n", goal, targets->count > 0 ? " for " : "",
            targets_text(targets, text));
}

static void plan_report_print_answer(const struct planning *planning, const struct targets *targets,
                                     FILE *out)
{
    char answer[PLAN_ANSWER];
    plan_answer(planning, targets, answer);
    fputc('\n', out);
    table_line("", answer, out);
    plan_report_print_tried(planning, out);
    left_out_print(planning->candidates, planning->count, out);
}

bool plan_report(const struct planning *planning, const struct targets *targets,
                 const struct table_view *view, FILE *out, struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    struct frame *frame = notes != NULL ? plan_frame(planning, targets, view, why) : NULL;
    bool good = frame != NULL;
    if (good) {
        plan_notes_add(planning, targets, notes);
        runs_notes_print_above(notes, planning->searches[0].candidate->scenario.root, out);
        plan_report_print_title(planning, targets, out);
        good = frame_print(frame, view, out, why);
    }
    if (good) {
        plan_report_print_answer(planning, targets, out);
        runs_notes_print_below(notes, view->why, out);
    }
    frame_destroy(frame);
    runs_notes_destroy(notes);
    return good;
}
