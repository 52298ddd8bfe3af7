/* A plan, or a Pareto front, for people: its table, its answer, and what to know before relying on it. */
#include "cli/plan/plan_report.h"

#include <math.h>
#include <string.h>

#include "cli/plan/deployment.h"
#include "core/quote.h"
#include "core/text.h"
#include "predict/server/serving_load.h"
#include "study/plan/start_line.h"

/* ---- what a run misses ---- */

static void say_absent(const struct column *column, char text[VIOLATION_TEXT])
{
    text_append(text, VIOLATION_TEXT, "%shas no %s%s", text[0] != '\0' ? ", " : "", column->name,
                column == COLUMN(cost_per_million_tokens) ? " (the machine has no price: --price)"
                                                          : "");
}

/* What every server has to meet has words of its own. Of a bound of 0 nothing is a share. */
static void say_missed(const struct target *target, const struct result *result, double violation,
                       char text[VIOLATION_TEXT])
{
    char value[TARGET_TEXT];
    text_append(text, VIOLATION_TEXT, "%s", text[0] != '\0' ? " and " : "");
    if (target->column == COLUMN(queue_grows)) {
        text_append(text, VIOLATION_TEXT, "%s",
                    serving_sessions_lack(result) ? "has too few sessions to show the rate"
                                                  : "lets its queue grow without bound");
        return;
    }
    if (target->column == COLUMN(requests_left_out)) {
        text_append(text, VIOLATION_TEXT, "leaves out %.0f requests as too long for its memory",
                    result_number(result, target->column));
        return;
    }
    text_append(text, VIOLATION_TEXT, "misses %s: %s", target->text,
                target_format(target, result, value));
    if (target->bound > 0 && violation >= 1) {
        text_append(text, VIOLATION_TEXT, " (%.*f times as much)", violation < 9, 1 + violation);
    } else if (target->bound > 0) {
        text_append(text, VIOLATION_TEXT, " (by %.*f %%)", violation < 0.01 ? 2 : violation < 0.1,
                    100 * violation);
    }
}

const char *violation_describe(const struct targets *targets, const struct column *compared,
                               const struct result *result, char text[VIOLATION_TEXT])
{
    const char *status = result_cell(result, COLUMN(status))->text;
    text[0] = '\0';
    if (strcmp(status, "ok") != 0) {
        text_append(text, VIOLATION_TEXT, "%s%s (%s)", strcmp(status, "failed") == 0 ? "" : "is ",
                    status, result->message);
        return text;
    }
    /* Times and rates beside a queue that grows are those of a run's length. */
    bool grows = result_number(result, COLUMN(queue_grows)) > 0;
    for (uint32_t i = 0; i < targets->count; i++) {
        const struct target *target = &targets->all[i];
        double violation = target_violation(target, result);
        if (isinf(violation)) {
            say_absent(target->column, text);
        } else if (violation > 0 && !(grows && column_is_pace(target->column))) {
            say_missed(target, result, violation, text);
        }
    }
    const json_t *draws = notes_find(result->notes, NOTE_draws);
    if (draws != NULL) {
        int missed = (int)json_integer_value(json_object_get(draws, "missed"));
        bool alike = json_is_true(json_object_get(draws, "alike"));
        text_append(text, VIOLATION_TEXT, "%s in %d of %d draws (seed%s %s)",
                    alike   ? ""
                    : grows ? " or misses a limit"
                            : " or lets its queue grow",
                    missed, CAPACITY_DRAWS, text_plural((uint64_t)missed),
                    json_string_value(json_object_get(draws, "seeds")));
    }
    bool lacks = compared != NULL && !result_cell(result, compared)->set;
    if (lacks && !targets_judge(targets, compared)) {
        say_absent(compared, text);
    }
    return text;
}

const char *violation_of_value(const struct targets *targets, const struct column *compared,
                               const struct search *search, uint32_t value,
                               char text[VIOLATION_TEXT])
{
    const struct result *result = &search->results[value];
    bool whole = search->depth == NULL || search->depth[value] == SEARCH_WHOLE;
    text[0] = '\0';
    if (whole || !result_ok(result) || result_number(result, COLUMN(queue_grows)) > 0) {
        return violation_describe(targets, compared, result, text);
    }
    for (uint32_t i = 0; i < targets->count; i++) {
        if (target_violation(&targets->all[i], result) > 0) {
            text_append(text, VIOLATION_TEXT, "%s%s", text[0] == '\0' ? "misses " : " and ",
                        targets->all[i].text);
        }
    }
    return text;
}

enum { TEXT = 64, LINE = 2048 };

bool plan_machines_differ(const struct planning *planning)
{
    bool differ = false;
    for (uint32_t i = 1; i < planning->count; i++) {
        differ = differ || strcmp(planning->candidates[i].machine, planning->candidates[0].machine);
    }
    return differ;
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

static const char *most_or_least(const struct planning *planning)
{
    return planning->options.best->best == BEST_LEAST ? "least" : "most";
}

void plan_goal(const struct planning *planning, char text[PLAN_GOAL])
{
    if (planning->options.best != NULL) {
        snprintf(text, PLAN_GOAL, "%s %s over %s", most_or_least(planning),
                 planning->options.best->name, plan_axis(planning));
        return;
    }
    bool numeric = true;
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct axis *axis = &planning->searches[i].axis;
        numeric = numeric && (axis->count == 0 || axis->numeric);
    }
    const char *liked = planning->options.maximise ? numeric ? "largest" : "last"
                        : numeric                  ? "least"
                                                   : "first";
    snprintf(text, PLAN_GOAL, "%s %s", liked, plan_axis(planning));
}

/* ---- the answer ---- */

static void say_name(const struct planning *planning, const struct search *search,
                     char text[PLAN_ANSWER])
{
    bool differ = plan_machines_differ(planning);
    text_append(text, PLAN_ANSWER, "%s%s%s", candidate_name(search->candidate),
                differ ? " on " : "", differ ? search->candidate->machine : "");
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
    const char *label = search_label(search, search_shown(search), value, sizeof value);
    if (label != NULL) {
        text_append(text, PLAN_ANSWER, "%s", before);
        text_append_value(text, PLAN_ANSWER, plan_axis(planning), label);
    }
}

static void say_violation(const struct planning *planning, const struct result *result,
                          char text[PLAN_ANSWER])
{
    char violation[VIOLATION_TEXT];
    violation_describe(&planning->options.targets, planning->options.best, result, violation);
    text_append(text, PLAN_ANSWER, "%s", violation);
}

/* Candidates with the same value, or a figure too close to call. */
static void say_ties(const struct planning *planning, char text[PLAN_ANSWER])
{
    bool figures = planning->options.best != NULL || planning->searches[planning->winner].grid.load;
    const char *before = figures ? "; too close to call: " : ", like ";
    for (uint32_t i = 0; i < planning->count; i++) {
        if (winner_ties(planning, &planning->searches[i])) {
            text_append(text, PLAN_ANSWER, "%s", before);
            say_name(planning, &planning->searches[i], text);
            before = ", ";
        }
    }
}

/* What the next better value misses; or that the axis itself, not a target, limits the value. */
static void say_next(const struct planning *planning, const struct search *search,
                     char text[PLAN_ANSWER])
{
    char before[TEXT], reason[VIOLATION_TEXT], violation[VIOLATION_TEXT];
    uint32_t next = search_next_miss(search);
    if (next != PLANNING_NONE) {
        text_append(text, PLAN_ANSWER, "; the %s %s it, %s, ",
                    next + 1 == search->found ? "value" : "next value tried",
                    planning->options.maximise ? "above" : "below",
                    search_label(search, next, before, sizeof before));
        /* What would fit instead is said by the answer. */
        const struct result *result = &search->results[next];
        const char *status = result_cell(result, COLUMN(status))->text;
        if (strcmp(status, "out-of-memory") == 0) {
            text_append(text, PLAN_ANSWER, "is %s (%s)", status,
                        result_reason(result, reason, sizeof reason));
        } else {
            text_append(text, PLAN_ANSWER, "%s",
                        violation_of_value(&planning->options.targets, planning->options.best,
                                           search, next, violation));
        }
        return;
    }
    text_append(text, PLAN_ANSWER, "; the axis %s there",
                planning->options.maximise ? "ends" : "begins");
}

static void say_winner(const struct planning *planning, char text[PLAN_ANSWER])
{
    const struct search *search = &planning->searches[planning->winner];
    const struct target figure = {.column = planning->options.best};
    char best[TARGET_TEXT];
    say_name(planning, search, text);
    say_mass(&search->results[search->found], text);
    if (planning->options.best != NULL) {
        text_append(text, PLAN_ANSWER, " has the %s %s, %s", most_or_least(planning),
                    planning->options.best->name,
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
        say_next(planning, search, text);
    }
}

static void say_nearest(const struct planning *planning, char text[PLAN_ANSWER])
{
    const struct search *search = &planning->searches[planning->nearest];
    text_append(text, PLAN_ANSWER, "out of reach: the nearest is ");
    say_name(planning, search, text);
    say_value(planning, search, " with ", text);
    text_append(text, PLAN_ANSWER, ", which ");
    say_violation(planning, &search->results[search->nearest], text);
    if (!planning->options.maximise && search->nearest + 1 == search->axis.count) {
        text_append(text, PLAN_ANSWER, "; the axis ends there");
    }
}

/* No value has figures to judge: the reason of the first candidate stands for all. */
static void say_impossible(const struct planning *planning, char text[PLAN_ANSWER])
{
    uint32_t first = 0;
    while (planning->searches[first].grid.count == 0) { /* one has some: planning_run() succeeded */
        first++;
    }
    text_append(text, PLAN_ANSWER, "out of reach: no run has %s; ",
                planning->options.targets.count > 0 ? "all the figures that the targets need"
                                                    : "the figure that is compared");
    say_name(planning, &planning->searches[first], text);
    text_append(text, PLAN_ANSWER, " ");
    say_violation(planning, &planning->searches[first].results[0], text);
}

void plan_answer(const struct planning *planning, char text[PLAN_ANSWER])
{
    text[0] = '\0';
    (planning->winner != PLANNING_NONE    ? say_winner
     : planning->nearest != PLANNING_NONE ? say_nearest
                                          : say_impossible)(planning, text);
}

/* If the error band leaves open whether a run meets a target, say so, with the range. */
static void note_open(const struct search *search, const struct targets *targets,
                      struct runs_notes *notes)
{
    const struct result *result = &search->results[search_shown(search)];
    struct targets open;
    targets_open(targets, result, &open);
    for (uint32_t i = 0; i < open.count; i++) {
        const struct target *target = &open.all[i];
        char low[TARGET_TEXT], high[TARGET_TEXT];
        double least = 0, most = 0;
        band_ends(result, target->column, &least, &most);
        runs_notes_add_note(notes, search->candidate->system,
                            note_make(NOTE_target_open, note_text(target->text),
                                      note_flag(target_violation(target, result) == 0),
                                      note_text(target_format_value(target, least, low)),
                                      note_text(target_format_value(target, most, high))));
    }
}

/* Between which tried loads the capacity lies. Only the winner's are asked of the longest runs. */
static void note_capacity(const struct search *search, struct runs_notes *notes)
{
    uint32_t miss = search_next_miss(search);
    if (search->found != PLANNING_NONE && miss != PLANNING_NONE) {
        bool brief = search->depth[search->found] == SEARCH_BRIEF;
        bool all = notes_find(search->results[miss].notes, NOTE_draws) == NULL;
        runs_notes_add_note(notes, search->candidate->system,
                            note_make(NOTE_capacity_between,
                                      note_text(search_text(search, search_surely_held(search))),
                                      note_text(search_text(search, miss)), note_flag(all),
                                      note_whole(brief ? STREAM_USUAL : STREAM_MOST)));
    }
}

/* Add what a person should know about the runs that answer a plan. */
static void plan_notes_add(const struct planning *planning, struct runs_notes *notes)
{
    for (uint32_t i = 0; i < planning->count; i++) {
        const struct search *search = &planning->searches[i];
        const char *system = search->candidate->system;
        if (search_shown(search) == PLANNING_NONE) {
            continue;
        }
        if (i == planning->winner || i == planning->nearest) {
            note_open(search, &planning->options.targets, notes);
        }
        if (search->depth != NULL) {
            note_capacity(search, notes);
        } else if (strcmp(search->axis.key, "rate") == 0) {
            runs_notes_add_note(notes, system, note_plain(NOTE_arrivals_drawn));
        }
        runs_notes_add(notes, &search->results[search_shown(search)]);
    }
}

bool plan_report(const struct planning *planning, const struct table_view *view, FILE *out,
                 struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    struct frame *frame = notes != NULL ? plan_frame(planning, view, why) : NULL;
    char goal[PLAN_GOAL], text[TARGETS_TEXT], answer[PLAN_ANSWER];
    uint32_t tried = 0, values = 0;
    bool good = frame != NULL;
    if (good) {
        plan_notes_add(planning, notes);
        runs_notes_print_above(notes, &planning->searches[0].candidate->scenario, out);
        plan_goal(planning, goal);
        fprintf(out, "%s%s%s%s\n\n", goal, planning->options.unasked ? ", the usual goal," : "",
                planning->options.targets.count > 0 ? " for " : "",
                targets_text(&planning->options.targets, text));
        good = frame_print(frame, view, out, why);
    }
    if (good) {
        plan_answer(planning, answer);
        fputc('\n', out);
        table_line("", answer, out);
        for (uint32_t i = 0; i < planning->count; i++) {
            tried += planning->searches[i].grid.tried;
            values += planning->searches[i].grid.count;
        }
        fprintf(out, "%u of %u value%s tried\n", tried, values, values == 1 ? " was" : "s were");
        left_out_print(planning->candidates, planning->count, true, out);
        runs_notes_print_below(notes, view->why, out);
    }
    frame_destroy(frame);
    runs_notes_destroy(notes);
    return good;
}

void left_out_print(const struct candidate *candidates, uint32_t count, bool names, FILE *out)
{
    char reasons[LINE] = "", line[LINE] = "";
    for (uint32_t i = 0; i < count; i++) {
        const char *reason = candidates[i].left_out;
        char systems[LINE] = "";
        uint32_t alike = 0;
        if (reason[0] == '\0' || name_listed(reasons, reason)) {
            continue;
        }
        name_list_add(reasons, sizeof reasons, reason);
        for (uint32_t k = i; k < count; k++) {
            if (strcmp(candidates[k].left_out, reason) == 0) {
                alike += !name_listed(systems, candidates[k].system);
                name_list_add(systems, sizeof systems, candidates[k].system);
            }
        }
        if (names) {
            snprintf(line, sizeof line, "left out, %.200s: %.1800s", reason, systems);
            table_line("", line, out);
        } else {
            text_append(line, sizeof line, "%s %u (%s)", line[0] == '\0' ? "left out:" : ",", alike,
                        reason);
        }
    }
    if (!names && line[0] != '\0') {
        text_append(line, sizeof line, "; --wide lists them");
        table_line("", line, out);
    }
}

static void plan_winner_print_note(json_t *note)
{
    fputc('\n', stdout);
    table_line("note: ", note_words(note), stdout);
    json_decref(note);
}

/* Print the command that starts its server, if it has one. KV that stays in HBM is on the host, too. */
static bool plan_winner_print_command(const struct scenario *point, const struct result *result,
                                      uint32_t servers, struct error *why)
{
    const struct cell *held = result_cell(result, COLUMN(dram_kv_bytes));
    struct server_command command;
    char many[SERVERS_WORDS];
    if (!server_command(point, result, &command, why)) {
        return false;
    }
    deployment_servers(point, servers, command.text, many);
    if (command.text[0] != '\0') {
        fputs("\nits server:\n\n", stdout);
        quote_write(QUOTE_LINE, command.text, stdout);
        fputc('\n', stdout);
    }
    if (many[0] != '\0') {
        fputc('\n', stdout);
        table_line("", many, stdout);
    }
    if (command.lacks[0] != '\0') {
        printf("\nnot in that command: %s\n", command.lacks);
    }
    if (result_cell(result, COLUMN(resident_share))->set && held->set) {
        plan_winner_print_note(note_make(NOTE_host_pool, note_bytes((uint64_t)held->integer)));
    }
    if (command.pool > 0) {
        plan_winner_print_note(note_make(NOTE_pool_computed, note_whole(command.pool)));
    }
    return true;
}

bool plan_winner_print(const struct planning *planning, const char *path, const char *folder,
                       bool json, struct error *why)
{
    const struct search *search = &planning->searches[planning->winner];
    const struct result *result = &search->results[search->found];
    struct scenario point;
    if (!search_scenario(search, search->found, &point, why)) {
        scenario_release(&point);
        return false;
    }
    uint32_t servers = (uint32_t)scenario_stated(&point.values, "replicas", 1);
    const struct deployment deployment = {&point, result, &planning->options.targets,
                                          planning->options.study.runs, servers};
    bool good = ((path == NULL && json) || deployment_write_scenario(&point, path, why)) &&
                (json || plan_winner_print_command(&point, result, servers, why)) &&
                (folder == NULL || deployment_write(&deployment, folder, why));
    scenario_release(&point);
    return good;
}
