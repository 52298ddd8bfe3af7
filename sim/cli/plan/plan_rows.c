/* A plan as rows of the database: its candidates, and the values that were tried. */
#include "cli/plan/plan_report.h"

#include "core/version.h"
#include "cli/plan/plan_words.h"
#include "cli/plan/violation.h"
#include "store/run.h"
#include "study/plan/winner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { VALUE = 64 };

#define FIELD(name, type, what) PLAN_##name,
enum {
#include "tables/plans.def"
    PLAN_COLUMNS
};
#undef FIELD
#define FIELD(name, type, what) POINT_##name,
enum {
#include "tables/plan_points.def"
    POINT_COLUMNS
};
#undef FIELD
#define FIELD(name, type, meaning) {.key = #name, .unit = UNIT_##type},
static const struct frame_column stored_columns[PLAN_COLUMNS] = {
#include "tables/plans.def"
};
static const struct frame_column point_columns[POINT_COLUMNS] = {
#include "tables/plan_points.def"
};
#undef FIELD

/* The columns that are the same in all rows. */
struct plan_rows_text {
    char name[17], goal[PLAN_GOAL], targets[TARGETS_TEXT], answer[PLAN_ANSWER];
};

/* ---- the question ---- */

static uint64_t plan_rows_add_text(const char *text, uint64_t hash)
{
    return XXH64(text, strlen(text) + 1, hash);
}

static const char *run_name(const struct search *search, uint32_t value)
{
    const struct cell *run = result_cell(&search->results[value], COLUMN(run));
    return run->set ? run->text : NULL;
}

/* Add a candidate: its scenario, and the runs that were tried, which depend on the files that it
 * names. */
static bool add_candidate(const struct search *search, uint64_t *hash, struct error *why)
{
    char *text = node_canonical(search->candidate->scenario.root, why);
    if (text == NULL) {
        return false;
    }
    *hash = plan_rows_add_text(text, *hash);
    free(text);
    for (uint32_t value = 0; value < search->grid.count; value++) {
        const char *run = run_name(search, value);
        *hash = run != NULL ? plan_rows_add_text(run, *hash) : *hash;
    }
    return true;
}

static bool plan_rows_say(const struct planning *planning, const struct targets *targets,
                          struct plan_rows_text *out, struct error *why)
{
    bool good = true;
    plan_goal(planning, out->goal);
    plan_answer(planning, targets, out->answer);
    targets_text(targets, out->targets);
    uint64_t hash = plan_rows_add_text(
        out->targets, plan_rows_add_text(out->goal, plan_rows_add_text(spillway_program, 0)));
    for (uint32_t i = 0; good && i < planning->count; i++) {
        good = add_candidate(&planning->searches[i], &hash, why);
    }
    snprintf(out->name, sizeof out->name, "%016llx", (unsigned long long)hash);
    return good;
}

/* ---- candidates ---- */

static void put_tried(const struct planning *planning, const struct targets *targets,
                      const struct search *search, struct frame *frame)
{
    bool met = search->found != PLANNING_NONE;
    uint32_t value = search_shown(search);
    char label[VALUE], message[VIOLATION_TEXT], text[TARGETS_TEXT];
    struct targets open;
    frame_text(frame, PLAN_verdict,
               winner_is(planning, search) ? "wins"
               : met                       ? "meets"
                                           : "misses");
    if (!met) {
        violation_describe(targets, planning->best,
                           &search->results[value == PLANNING_NONE ? 0 : value], message);
        frame_text(frame, PLAN_message, message);
    }
    if (value != PLANNING_NONE) {
        frame_text(frame, PLAN_run, run_name(search, value));
        frame_text(frame, PLAN_value,
                   search_label(search, planning->maximise, value, label, sizeof label));
        targets_open(targets, &search->results[value], &open);
        frame_text(frame, PLAN_note, open.count > 0 ? targets_text(&open, text) : NULL);
    }
}

static void plan_rows_put_candidate(const struct planning *planning, const struct targets *targets,
                                    const struct plan_rows_text *said, uint32_t place,
                                    struct frame *frame)
{
    const struct search *search = &planning->searches[place];
    const struct candidate *candidate = search->candidate;
    bool left_out = candidate->left_out[0] != '\0';
    frame_row(frame);
    frame_text(frame, PLAN_plan, said->name);
    frame_number(frame, PLAN_place, place);
    frame_text(frame, PLAN_goal, said->goal);
    frame_text(frame, PLAN_targets, said->targets);
    frame_text(frame, PLAN_answer, said->answer);
    frame_text(frame, PLAN_system, candidate->system);
    frame_text(frame, PLAN_hardware, candidate->machine);
    frame_number(frame, PLAN_tried, search->grid.tried);
    frame_number(frame, PLAN_count, search->grid.count);
    if (left_out || search->cannot) {
        frame_text(frame, PLAN_verdict, left_out ? "left out" : "refused");
        frame_text(frame, PLAN_message, left_out ? candidate->left_out : search->why.found);
    } else {
        put_tried(planning, targets, search, frame);
    }
}

/* ---- values ---- */

static void plan_rows_put_point(const struct search *search, bool maximise, uint32_t value,
                                const struct target *target, struct frame *frame)
{
    const struct result *result = &search->results[value];
    char label[VALUE], figure[TARGET_TEXT];
    frame_number(frame, POINT_liked, value);
    frame_text(frame, POINT_target, target->text);
    frame_text(frame, POINT_value, search_label(search, maximise, value, label, sizeof label));
    frame_text(frame, POINT_run, run_name(search, value));
    frame_text(frame, POINT_figure, target_format(target, result, figure));
    frame_number(frame, POINT_met, target_violation(target, result) == 0);
}

/* The values of a candidate, with the verdict of each target. */
static void plan_rows_put_points(const struct planning *planning, const struct targets *targets,
                                 const char *name, uint32_t place, struct frame *frame)
{
    const struct search *search = &planning->searches[place];
    for (uint32_t value = 0; value < search->grid.count; value++) {
        for (uint32_t i = 0; !isnan(search->grid.violation[value]) && i < targets->count; i++) {
            frame_row(frame);
            frame_text(frame, POINT_plan, name);
            frame_number(frame, POINT_place, place);
            plan_rows_put_point(search, planning->maximise, value, &targets->all[i], frame);
        }
    }
}

bool plan_store(const struct planning *planning, const struct targets *targets, struct store *store,
                struct error *why)
{
    struct plan_rows_text said;
    if (!plan_rows_say(planning, targets, &said, why)) {
        return false;
    }
    struct frame *plans = frame_create(stored_columns, PLAN_COLUMNS, why);
    struct frame *points = frame_create(point_columns, POINT_COLUMNS, why);
    for (uint32_t i = 0; plans != NULL && points != NULL && i < planning->count; i++) {
        plan_rows_put_candidate(planning, targets, &said, i, plans);
        plan_rows_put_points(planning, targets, said.name, i, points);
    }
    const struct store_frame tables[] = {{.table = "plans", .frame = plans},
                                         {.table = "plan_points", .frame = points}};
    bool good = plans != NULL && points != NULL && store_put_frames(store, tables, 2, why);
    frame_destroy(plans);
    frame_destroy(points);
    return good;
}
