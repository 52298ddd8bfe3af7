#include "cli/advise/advise_hire.h"

#include "base/node.h"
#include "base/text.h"
#include "answer/table.h"
#include "cli/runs/runs_notes.h"
#include "cli/runs/runs_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LINE = 2048 };

enum {
#define COLUMN(name, type, what) DATA_##name,
#define SHOWN(name, type, what, ...) DATA_##name,
#define PEOPLE(name, ...) DATA_##name,
#include "answer/hires.def"
    COLUMNS
};

static const struct frame_column columns[COLUMNS] = {
#define COLUMN(id, type, meaning) [DATA_##id] = {.key = #id, .unit = ANSWER_##type},
#define SHOWN(id, type, meaning, ...)                                                              \
    [DATA_##id] = {.key = #id, .unit = ANSWER_##type, __VA_ARGS__},
#define PEOPLE(id, ...) [DATA_##id] = {__VA_ARGS__},
#include "answer/hires.def"
};

/* ---- rows ---- */

/* Each machine's best form, and others that the whole workload was tried with. */
static bool hire_frame_is_shown(const struct hire *hire, uint32_t index)
{
    const struct hire_form *form = &hire->forms[index];
    return form->servers > 0 || hire_best_on(hire, form->candidate->machine) == index;
}

/* The scenario of the run that is shown, and the run. */
static bool hire_frame_put_run(const struct hire *hire, const struct hire_form *form,
                               struct frame *frame, struct error *why)
{
    const struct result *run = form->servers > 0 ? hire_holds(form) : hire_misses(form);
    uint32_t servers = form->servers > 0 ? form->servers : form->fewer;
    struct scenario scenario;
    bool good = true;
    if (servers > 0) {
        good = hire_scenario(hire, form, servers, &scenario, why) &&
               advise_put_scenario(&scenario, frame, DATA_scenario, why);
        scenario_release(&scenario);
    }
    return good && (run == NULL || run_put_json(run, frame, DATA_run, why));
}

/* For people a time to the first token, or of a token, is shown as it is limited, or as its 99th
 * percentile. */
static const struct shown_time {
    int place;
    enum column columns[4];
    const char *titles[4];
} times[] = {
    {DATA_ttft,
     {COLUMN_TTFT_P99, COLUMN_TTFT_P90, COLUMN_TTFT_P50, COLUMN_TTFT},
     {"TTFT p99 ms", "TTFT p90 ms", "TTFT p50 ms", "TTFT ms"}},
    {DATA_tpot,
     {COLUMN_TPOT_P99, COLUMN_TPOT_P90, COLUMN_TPOT_P50, COLUMN_TPOT},
     {"TPOT p99 ms", "TPOT p90 ms", "TPOT p50 ms", "TPOT ms"}},
};

/* Which of the four is limited, and so shown. */
static int shown_time_of(const struct shown_time *time, const struct hire *hire)
{
    int shown = 0;
    for (int i = 3; i >= 0; i--) {
        shown = targets_judge(&hire->targets, time->columns[i]) ? i : shown;
    }
    return shown;
}

static void put_times(const struct hire *hire, const struct result *result, struct frame *frame)
{
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        enum column column = times[i].columns[shown_time_of(&times[i], hire)];
        frame_number(frame, (uint32_t)times[i].place, result_number(result, column));
    }
}

static struct frame *make_columns(const struct hire *hire, struct error *why)
{
    struct frame_column own[COLUMNS];
    memcpy(own, columns, sizeof own);
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        own[times[i].place].title = times[i].titles[shown_time_of(&times[i], hire)];
    }
    return frame_create(own, COLUMNS, why);
}

static void put_form(const struct hire *hire, uint32_t index, struct frame *frame)
{
    const struct hire_form *form = &hire->forms[index];
    char reason[VERDICT_TEXT] = "";
    frame_row(frame);
    frame_text(frame, DATA_kind, "hire");
    frame_text(frame, DATA_hardware, form->candidate->machine);
    frame_text(frame, DATA_weights, form->weights);
    frame_text(frame, DATA_system, form->candidate->system);
    frame_number(frame, DATA_gpus, form->gpus);
    frame_number(frame, DATA_servers, form->servers > 0 ? form->servers : (double)NAN);
    frame_number(frame, DATA_fewer, form->fewer > 0 ? form->fewer : (double)NAN);
    frame_number(frame, DATA_price_per_hour, form->price > 0 ? form->price : (double)NAN);
    frame_number(frame, DATA_cost_per_hour, hire_hour_cost(form));
    frame_number(frame, DATA_cost_per_request, hire_request_cost(hire, form));
    frame_number(frame, DATA_advised, index == hire->best);
    if (form->servers == 0) {
        hire_say_why(hire, form, reason);
        frame_text(frame, DATA_why, reason);
        frame_reason(frame, DATA_all_gpus, reason);
        return;
    }
    frame_number(frame, DATA_all_gpus, form->servers * form->gpus);
    frame_textf(frame, DATA_shape, "%u x %u", form->servers, form->gpus);
    put_times(hire, hire_holds(form), frame);
    frame_result(frame, hire_holds(form));
}

/* A row for each form; for people only those that are shown, without the runs. */
static struct frame *hire_frame_make(const struct hire *hire, bool for_people, struct error *why)
{
    struct frame *frame = make_columns(hire, why);
    bool good = frame != NULL;
    for (uint32_t i = 0; good && i < hire->count; i++) {
        if (!for_people || hire_frame_is_shown(hire, i)) {
            put_form(hire, i, frame);
            good = for_people || hire_frame_put_run(hire, &hire->forms[i], frame, why);
        }
    }
    if (!good) {
        frame_destroy(frame);
        return NULL;
    }
    return frame;
}

static bool hire_frame_print_table(const struct hire *hire, FILE *out, struct error *why)
{
    struct frame *frame = hire_frame_make(hire, true, why);
    bool good = frame != NULL && frame_print(frame, NULL, out, why);
    frame_destroy(frame);
    return good;
}

/* ---- around the table ---- */

static void hire_frame_print_title(const struct hire *hire, const char *model, FILE *out)
{
    char line[LINE] = "", limits[TARGETS_TEXT];
    const struct node *workload = node_said(hire->forms[0].scenario.root, "workload");
    text_append(line, sizeof line, "%s, %g request%s a second", model, hire->rate,
                hire->rate == 1 ? "" : "s");
    if (workload != NULL && workload->kind == NODE_SCALAR) {
        text_append(line, sizeof line, ", %s", workload->text);
    }
    text_append(line, sizeof line, "; limits: %s", targets_text(&hire->targets, limits));
    table_line("", line, out);
    fputc('\n', out);
}

/* Why the table does not show a form. */
enum reason { REFUSED, NO_ROOM, TOO_SMALL, MISSES_ALONE, MISSES, DEARER, UNDECIDED };

static enum reason hire_frame_reason_of(const struct hire_form *form)
{
    bool misses = hire_misses(form) != NULL;
    return form->no_room                ? NO_ROOM
           : form->too_small            ? TOO_SMALL
           : form->refused[0] != '\0'   ? REFUSED
           : misses && form->fewer == 0 ? MISSES_ALONE
           : misses                     ? MISSES
           : form->decided              ? DEARER
                                        : UNDECIDED;
}

static const char *say_reason(const struct hire_form *form)
{
    static const char *const words[] = {
        [MISSES_ALONE] = "a request alone misses a limit",
        [MISSES] = "as many servers as cost no more miss a limit",
        [DEARER] = "one server costs more",
        [UNDECIDED] = "not decided",
    };
    enum reason reason = hire_frame_reason_of(form);
    return reason <= TOO_SMALL ? form->refused : words[reason];
}

/* Servers without room are one reason, however much each lacks; others that cannot be are one if
 * their weights are of one type. */
static bool is_same(const struct hire_form *a, const struct hire_form *b)
{
    enum reason reason = hire_frame_reason_of(a);
    return reason == hire_frame_reason_of(b) &&
           (reason != REFUSED || strcmp(a->weights, b->weights) == 0);
}

/* Forms that the table does not show, by their reason, and how much was run to know it. */
static void print_rest(const struct hire *hire, FILE *out)
{
    char line[LINE] = "";
    uint64_t values = 0;
    for (uint32_t i = 0; i < hire->count; i++) {
        uint32_t alike = 0, before = 0;
        values += hire->forms[i].refused[0] == '\0' ? hire->forms[i].most_servers : 0;
        for (uint32_t j = 0; !hire_frame_is_shown(hire, i) && j < hire->count; j++) {
            bool same = !hire_frame_is_shown(hire, j) && is_same(&hire->forms[j], &hire->forms[i]);
            alike += same;
            before += same && j < i;
        }
        if (alike > 0 && before == 0) {
            text_append(line, sizeof line, "%s%u where %s", line[0] != '\0' ? "; " : "", alike,
                        say_reason(&hire->forms[i]));
        }
    }
    if (line[0] != '\0') {
        table_line("other forms (--json lists them): ", line, out);
    }
    fprintf(out, "%u of %" PRIu64 " hires were tried, after %u cheap runs\n", hire->runs, values,
            hire->cheap_runs);
}

/* What the figures of the shown forms rest on, as below every table. */
static bool hire_print_notes(const struct hire *hire, bool why, FILE *out, struct error *error)
{
    struct runs_notes *notes = runs_notes_create(error);
    for (uint32_t i = 0; notes != NULL && i < hire->count; i++) {
        if (hire->forms[i].servers > 0) {
            runs_notes_add(notes, hire_holds(&hire->forms[i]));
        }
    }
    if (notes != NULL && hire->best != HIRE_NONE) {
        runs_notes_print_below(notes, why, out);
    }
    bool good = notes != NULL;
    runs_notes_destroy(notes);
    return good;
}

/* ---- all of it ---- */

bool advise_hire_print(const struct hire *hire, const char *model, bool reasons, FILE *out,
                       struct error *why)
{
    if (hire->interrupted && hire->best == HIRE_NONE) {
        return true;
    }
    struct frame *verdict = hire_verdict(hire, model, why);
    bool good = verdict != NULL;
    if (good) {
        hire_frame_print_title(hire, model, out);
        good = verdict_print(verdict, out, why);
    }
    frame_destroy(verdict);
    if (good) {
        fputc('\n', out);
        good = hire_frame_print_table(hire, out, why);
    }
    if (good) {
        print_rest(hire, out);
        good = hire_print_notes(hire, reasons, out, why);
    }
    if (good && hire->interrupted) {
        table_line("note: ", "interrupted: this is the best so far, and others may be cheaper",
                   out);
    }
    return good;
}

bool advise_hire_json(const struct hire *hire, const char *model, FILE *out, struct error *why)
{
    struct frame *verdict = hire_verdict(hire, model, why);
    struct frame *frame = verdict != NULL ? hire_frame_make(hire, false, why) : NULL;
    bool good =
        frame != NULL && verdict_print_json(verdict, out, why) && frame_print_json(frame, out, why);
    frame_destroy(frame);
    frame_destroy(verdict);
    return good;
}
