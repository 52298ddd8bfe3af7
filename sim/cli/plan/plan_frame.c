/* One row per candidate: the figures of the value found, or how near the nearest comes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "cli/plan/plan_report.h"
#include "core/text.h"
#include "core/version.h"
#include "store/stored_run.h"
#include "study/plan/start_line.h"

enum { TEXT = 64, LINE = VIOLATION_TEXT, BLOCK = 640 };

#define LIST "tables/candidates.def"
#define ID(name) CANDIDATE_##name
#define ARRAY fixed_columns
#include "tables/columns.h"

enum { FIXED_COLUMNS = CANDIDATE_verdict }; /* behind these are those of targets, and the verdict */

const struct frame_column *plan_columns(uint32_t *count)
{
    *count = FIXED_COLUMNS + 1;
    return fixed_columns;
}

struct plan_frame_report {
    const struct planning *planning;
    struct frame_column columns[FIXED_COLUMNS + TARGETS_MOST + 2];
    uint32_t column_count;
    struct frame *frame;
};

/* Add a column for what is judged, unless it has one. */
static void plan_frame_show(struct plan_frame_report *report, const struct column *column)
{
    for (uint32_t i = 0; i < report->column_count; i++) {
        const char *of = report->columns[i].of;
        if (of != NULL && strcmp(of, column->name) == 0) {
            return;
        }
    }
    if (column != COLUMN(batch)) {
        report->columns[report->column_count++] = (struct frame_column){
            .of = column->name, .title = column->title != NULL ? column->title : column->name};
    }
}

/* Is there a batch to show that is not the axis? A violation takes its place. */
static bool plan_frame_has_batch(const struct planning *planning)
{
    return planning->winner != PLANNING_NONE && strcmp(plan_axis(planning), "batch") != 0;
}

/* Behind the usual columns are those of targets without one of their own. */
static void fit_columns(struct plan_frame_report *report)
{
    const struct planning_options *options = &report->planning->options;
    struct frame_column *columns = report->columns;
    memcpy(columns, fixed_columns, FIXED_COLUMNS * sizeof *columns);
    report->column_count = FIXED_COLUMNS;
    if (scenario_serves(&report->planning->candidates[0].scenario)) {
        columns[CANDIDATE_tpot] = (struct frame_column){
            .of = "tpot_p50_ms", .title = COLUMN(tpot_p50_ms)->title, .optional = true};
    }
    for (uint32_t i = 0; i < options->targets.count; i++) {
        plan_frame_show(report, options->targets.all[i].column);
    }
    if (options->best != NULL) {
        plan_frame_show(report, options->best);
    }
    columns[report->column_count++] = fixed_columns[CANDIDATE_verdict];
    columns[CANDIDATE_hardware].title = plan_machines_differ(report->planning) ? "hardware" : NULL;
    columns[CANDIDATE_at].title = plan_axis(report->planning);
    columns[CANDIDATE_batch].title = plan_frame_has_batch(report->planning) ? "batch" : "";
    columns[CANDIDATE_cache].extra = !targets_judge(&options->targets, COLUMN(cache_bytes));
}

static void plan_frame_put_json(struct frame *frame, uint32_t column, json_t *value)
{
    char *text = json_dumps(value, JSON_COMPACT | JSON_REAL_PRECISION(12));
    frame_text(frame, column, text);
    free(text);
    json_decref(value);
}

/* The targets that the error band leaves open; none if the run has no band. */
static void put_near(const struct plan_frame_report *report, const struct result *result)
{
    struct targets open;
    json_t *list = json_array();
    bool any = result_cell(result, COLUMN(error_band))->set ||
               result_cell(result, COLUMN(ttft_band))->set ||
               result_cell(result, COLUMN(tpot_band))->set;
    targets_open(&report->planning->options.targets, result, &open);
    for (uint32_t i = 0; i < open.count; i++) {
        json_array_append_new(list, json_string(open.all[i].text));
    }
    if (any) {
        plan_frame_put_json(report->frame, CANDIDATE_within_error_band, list);
    } else {
        json_decref(list);
    }
}

static void put_error(const struct plan_frame_report *report, const struct search *search,
                      uint32_t value)
{
    char text[VIOLATION_TEXT];
    if (search->cannot) {
        frame_text(report->frame, CANDIDATE_error, search->why.found);
    } else if (value == PLANNING_NONE && search->grid.count > 0) {
        violation_describe(&report->planning->options.targets, report->planning->options.best,
                           &search->results[0], text);
        frame_text(report->frame, CANDIDATE_error, text);
    }
}

/* The scenario of the value, and the command that starts its server. */
static bool put_scenario(const struct plan_frame_report *report, const struct search *search,
                         uint32_t value, struct error *why)
{
    struct server_command command = {.pool = 0}; /* the run's kv_blocks has its pool */
    struct scenario point;
    bool made = search_scenario(search, value, &point, why);
    char *text = made ? scenario_canonical(&point, why) : NULL;
    bool good = text != NULL && (search->found == PLANNING_NONE ||
                                 server_command(&point, &search->results[value], &command, why));
    frame_text(report->frame, CANDIDATE_scenario, text);
    frame_text(report->frame, CANDIDATE_server, command.text[0] != '\0' ? command.text : NULL);
    frame_text(report->frame, CANDIDATE_server_lacks,
               command.lacks[0] != '\0' ? command.lacks : NULL);
    free(text);
    scenario_release(&point);
    return good;
}

static bool plan_frame_put_value(const struct plan_frame_report *report,
                                 const struct search *search, uint32_t value, struct error *why)
{
    const struct result *result = &search->results[value];
    struct frame *frame = report->frame;
    frame_text(frame, CANDIDATE_value, search_text(search, value));
    json_t *violations = json_object();
    for (uint32_t i = 0; i < report->planning->options.targets.count; i++) {
        const struct target *target = &report->planning->options.targets.all[i];
        double violation = target_violation(target, result);
        json_object_set_new(violations, target->text,
                            isfinite(violation) ? json_real(violation) : json_null());
    }
    plan_frame_put_json(frame, CANDIDATE_violation, violations);
    put_near(report, result);
    return put_scenario(report, search, value, why) &&
           run_put_json(result, frame, CANDIDATE_run, why);
}

static bool plan_frame_put_data(const struct plan_frame_report *report, const struct search *search,
                                struct error *why)
{
    const struct planning *planning = report->planning;
    struct frame *frame = report->frame;
    const char *left_out = search->candidate->left_out;
    uint32_t value = search_shown(search);
    frame_text(frame, CANDIDATE_left_out, left_out[0] != '\0' ? left_out : NULL);
    put_error(report, search, value);
    frame_number(frame, CANDIDATE_met, search->found != PLANNING_NONE);
    frame_number(frame, CANDIDATE_winner, winner_is(planning, search));
    frame_text(frame, CANDIDATE_axis, search->axis.key[0] != '\0' ? search->axis.key : NULL);
    frame_number(frame, CANDIDATE_tried, search->grid.tried);
    frame_number(frame, CANDIDATE_of, search->grid.count);
    frame_number(frame, CANDIDATE_steady, !search->grid.uneven);
    return value == PLANNING_NONE || plan_frame_put_value(report, search, value, why);
}

/* What limits a run, in its step or its memory: "link, 56 % of the step". */
static const char *name_block(const struct result *result, char text[BLOCK])
{
    const struct result_item *part = result_largest(result, COLUMN(parts_us));
    const struct result_item *stall = result_largest(result, COLUMN(stalls_us));
    double ns = (double)result_cell(result, COLUMN(step_us))->integer;
    if (part == NULL || part->ns == 0) {
        snprintf(text, BLOCK, "%s", result->message);
        return text;
    }
    snprintf(text, BLOCK, "%s, %.0f %% of the step", part->name, 100 * (double)part->ns / ns);
    if (stall != NULL && (double)stall->ns >= 0.01 * ns && strcmp(stall->name, part->name) != 0) {
        text_append(text, BLOCK, "; it waits for %s for %.0f %%", stall->name,
                    100 * (double)stall->ns / ns);
    }
    return text;
}

static void put_met(const struct plan_frame_report *report, const struct search *search)
{
    const struct planning *planning = report->planning;
    const struct result *result = &search->results[search->found];
    struct frame *frame = report->frame;
    char text[TARGET_TEXT];
    frame_text(frame, CANDIDATE_at, search_label(search, search->found, text, sizeof text));
    if (plan_frame_has_batch(planning)) {
        frame_number(frame, CANDIDATE_batch, result_number(result, COLUMN(batch)));
    } else {
        frame_text(frame, CANDIDATE_batch, "");
    }
    frame_result(frame, result);
    frame_text(frame, report->column_count - 1,
               winner_is(planning, search) ? "wins"
               : (planning->options.best != NULL || search->grid.load) &&
                       winner_ties(planning, search)
                   ? "ties"
                   : "");
}

/* In place of figures: how near the candidate comes, and what limits it. */
static void put_missed(const struct plan_frame_report *report, const struct search *search)
{
    char text[2 * LINE], violation[LINE], block[BLOCK], label[TEXT];
    const struct column *compared = report->planning->options.best;
    if (search->nearest == GRID_NONE) {
        violation_describe(&report->planning->options.targets, compared, &search->results[0], text);
    } else {
        const struct result *result = &search->results[search->nearest];
        violation_describe(&report->planning->options.targets, compared, result, violation);
        name_block(result, block);
        snprintf(text, sizeof text, "%s%s%s", violation, block[0] != '\0' ? ": " : "", block);
        frame_text(report->frame, CANDIDATE_at,
                   search_label(search, search->nearest, label, sizeof label));
    }
    frame_reason(report->frame, CANDIDATE_batch, text);
}

struct frame *plan_frame(const struct planning *planning, const struct table_view *view,
                         struct error *why)
{
    struct plan_frame_report report = {.planning = planning};
    fit_columns(&report);
    report.frame = frame_create_view(report.columns, report.column_count, view, why);
    bool good = report.frame != NULL;
    for (uint32_t i = 0; good && i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        if (view != NULL && search->candidate->left_out[0] != '\0') {
            continue;
        }
        frame_row(report.frame);
        frame_text(report.frame, CANDIDATE_system, search->candidate->system);
        frame_text(report.frame, CANDIDATE_hardware, search->candidate->machine);
        if (view == NULL) {
            good = plan_frame_put_data(&report, search, why);
        } else if (search->cannot) {
            frame_reason(report.frame, CANDIDATE_at, search->why.found);
        } else {
            (search->found != GRID_NONE ? put_met : put_missed)(&report, search);
        }
    }
    if (!good) {
        frame_destroy(report.frame);
        return NULL;
    }
    return report.frame;
}

/* A plan as rows of the database: its candidates, and the values that were tried. */

#define LIST "tables/plans.def"
#define ID(name) PLAN_##name
#define ARRAY stored_columns
#include "tables/columns.h"

#define LIST "tables/plan_points.def"
#define ID(name) POINT_##name
#define ARRAY point_columns
#include "tables/columns.h"

struct plan_rows_text {
    char name[17], goal[PLAN_GOAL], targets[TARGETS_TEXT], answer[PLAN_ANSWER];
};

static uint64_t plan_rows_add_text(const char *text, uint64_t hash)
{
    return XXH64(text, strlen(text) + 1, hash);
}

static const char *run_name(const struct search *search, uint32_t value)
{
    const struct cell *run = result_cell(&search->results[value], COLUMN(run));
    return run->set ? run->text : NULL;
}

/* Add a candidate: its scenario, and the runs that were tried, which depend on the files that it names. */
static bool add_candidate(const struct search *search, uint64_t *hash, struct error *why)
{
    char *text = scenario_canonical(&search->candidate->scenario, why);
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

static bool plan_rows_say(const struct planning *planning, struct plan_rows_text *out,
                          struct error *why)
{
    bool good = true;
    plan_goal(planning, out->goal);
    plan_answer(planning, out->answer);
    targets_text(&planning->options.targets, out->targets);
    uint64_t hash = plan_rows_add_text(
        out->targets, plan_rows_add_text(out->goal, plan_rows_add_text(spillway_program, 0)));
    for (uint32_t i = 0; good && i < planning->count; i++) {
        good = add_candidate(&planning->searches[i], &hash, why);
    }
    snprintf(out->name, sizeof out->name, "%016llx", (unsigned long long)hash);
    return good;
}

static void put_tried(const struct planning *planning, const struct search *search,
                      struct frame *frame)
{
    bool met = search->found != PLANNING_NONE;
    uint32_t value = search_shown(search);
    char label[TEXT], message[VIOLATION_TEXT], text[TARGETS_TEXT];
    struct targets open;
    frame_text(frame, PLAN_verdict,
               winner_is(planning, search) ? "wins"
               : met                       ? "meets"
                                           : "misses");
    if (!met) {
        violation_describe(&planning->options.targets, planning->options.best,
                           &search->results[value == PLANNING_NONE ? 0 : value], message);
        frame_text(frame, PLAN_message, message);
    }
    if (value != PLANNING_NONE) {
        frame_text(frame, PLAN_run, run_name(search, value));
        frame_text(frame, PLAN_value, search_label(search, value, label, sizeof label));
        targets_open(&planning->options.targets, &search->results[value], &open);
        frame_text(frame, PLAN_note, open.count > 0 ? targets_text(&open, text) : NULL);
    }
}

static void plan_rows_put_candidate(const struct planning *planning,
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
        put_tried(planning, search, frame);
    }
}

static void plan_rows_put_points(const struct planning *planning, const char *name, uint32_t place,
                                 struct frame *frame)
{
    const struct targets *targets = &planning->options.targets;
    const struct search *search = &planning->searches[place];
    for (uint32_t value = 0; value < search->grid.count; value++) {
        for (uint32_t i = 0; !isnan(search->grid.violation[value]) && i < targets->count; i++) {
            frame_row(frame);
            frame_text(frame, POINT_plan, name);
            frame_number(frame, POINT_place, place);
            const struct target *target = &targets->all[i];
            const struct result *result = &search->results[value];
            char label[TEXT], figure[TARGET_TEXT];
            frame_number(frame, POINT_liked, value);
            frame_text(frame, POINT_target, target->text);
            frame_text(frame, POINT_value, search_label(search, value, label, sizeof label));
            frame_text(frame, POINT_run, run_name(search, value));
            frame_text(frame, POINT_figure, target_format(target, result, figure));
            frame_number(frame, POINT_met, target_violation(target, result) == 0);
        }
    }
}

bool plan_store(const struct planning *planning, struct store *store, struct error *why)
{
    struct plan_rows_text said;
    if (!plan_rows_say(planning, &said, why)) {
        return false;
    }
    struct frame *plans = frame_create(stored_columns, PLAN_COUNT, why);
    struct frame *points = frame_create(point_columns, POINT_COUNT, why);
    for (uint32_t i = 0; plans != NULL && points != NULL && i < planning->count; i++) {
        plan_rows_put_candidate(planning, &said, i, plans);
        plan_rows_put_points(planning, said.name, i, points);
    }
    const struct store_frame tables[] = {{.table = "plans", .frame = plans},
                                         {.table = "plan_points", .frame = points}};
    bool good = plans != NULL && points != NULL && store_put_frames(store, tables, 2, why);
    frame_destroy(plans);
    frame_destroy(points);
    return good;
}
