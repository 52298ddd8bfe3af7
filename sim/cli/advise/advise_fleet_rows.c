/* A row for each form of a fleet. */
#include "cli/advise/advise_answer.h"

#include "tables/sentence.h"
#include "core/text.h"
#include "cli/runs/runs_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { LINE = 2048 };

enum {
#define FIELD(name, type, what) DATA_##name,
#define SHOWN(name, type, what, ...) DATA_##name,
#define PEOPLE(name, ...) DATA_##name,
#include "tables/fleets.def"
    COLUMNS
};

static const struct frame_column fixed_columns[COLUMNS] = {
#define FIELD(id, type, meaning) [DATA_##id] = {.key = #id, .unit = UNIT_##type},
#define SHOWN(id, type, meaning, ...) [DATA_##id] = {.key = #id, .unit = UNIT_##type, __VA_ARGS__},
#define PEOPLE(id, ...) [DATA_##id] = {__VA_ARGS__},
#include "tables/fleets.def"
};

/* Each machine's best form, and others that the whole workload was tried with. */
static bool is_shown(const struct fleet_size *fleet, uint32_t index)
{
    const struct fleet_form *form = &fleet->forms[index];
    return form->servers > 0 || fleet_best_on(fleet, form->candidate->machine) == index;
}

void fleet_print_rest(const struct fleet_size *fleet, FILE *out)
{
    char line[LINE] = "";
    uint64_t values = 0;
    uint32_t dearer = 0, refused = 0;
    const char *such = NULL;
    for (uint32_t i = 0; i < fleet->count; i++) {
        const struct fleet_form *form = &fleet->forms[i];
        bool can_be = form->refused[0] == '\0', left = !is_shown(fleet, i);
        values += can_be ? form->most_servers : 0;
        dearer += left && can_be;
        refused += left && !can_be;
        such = such == NULL && left && !can_be ? form->refused : such;
    }
    if (dearer > 0) {
        snprintf(line, sizeof line, "%u too dear%s or beyond a limit", dearer,
                 fleet->interrupted ? ", not decided" : "");
    }
    if (refused > 0) {
        text_append(line, sizeof line, "%s%u impossible, such as: %s", dearer > 0 ? "; " : "",
                    refused, such);
    }
    if (dearer + refused > 0) {
        table_line("other forms (--json lists them): ", line, out);
    }
    fprintf(out,
            "%u of %" PRIu64
            " pairs of a form and a number of servers were tried, after %u runs of few requests\n",
            fleet->runs, values, fleet->cheap_runs);
}

/* ---- cells ---- */

/* What the sentence `why` says. */
static void put_why(const struct fleet_size *fleet, const struct fleet_form *form,
                    struct frame *rows)
{
    const struct advice_form as = {form->fewer > 0 ? form->fewer : 1, form->gpus};
    char shape[ADVISE_WORDS];
    advise_form(&as, shape);
    if (form->refused[0] != '\0') {
        frame_text(rows, DATA_refused, form->refused);
    } else if (fleet_misses(form) != NULL) {
        frame_textf(rows, DATA_tried, "%s%s", form->fewer > 0 ? "" : "a request alone on ", shape);
        advise_put_limits(rows, DATA_limits, &fleet->targets, fleet_misses(form));
    } else if (form->decided) {
        frame_textf(rows, DATA_refused, "%s costs more", shape);
    } else {
        frame_text(rows, DATA_refused, "not decided");
    }
}

/* For people a time to the first token, or of a token, is shown as it is limited, or as its 99th
 * percentile. */
static const struct column *limited_time(const struct fleet_size *fleet, bool first)
{
    const struct column *shown = first ? COLUMN(ttft_p99_ms) : COLUMN(tpot_p99_ms);
    for (uint32_t i = 0; i < fleet->targets.count; i++) {
        const struct column *column = fleet->targets.all[i].column;
        if (strncmp(column->name, first ? "ttft" : "tpot", 4) == 0) {
            shown = column;
        }
    }
    return shown;
}

/* Other forms of the answer's machine, and the best of another one. */
static void put_tie(const struct fleet_size *fleet, const struct fleet_form *form,
                    struct frame *rows)
{
    const struct fleet_form *best = &fleet->forms[fleet->best];
    const struct advice_form as = {form->servers, form->gpus};
    uint32_t first = fleet_best_on(fleet, form->candidate->machine);
    bool rival = fleet_on_one_machine(form, best) || &fleet->forms[first] == form;
    enum tie tie = form != best && rival ? fleet_tie(form, best) : TIE_NONE;
    char shape[ADVISE_WORDS];
    frame_text(rows, DATA_form, advise_form(&as, shape));
    frame_text(rows, DATA_tie, tie != TIE_NONE ? tie_reason(tie) : NULL);
}

static void fleet_put_figures(const struct fleet_size *fleet, const struct fleet_form *form,
                              struct frame *rows)
{
    const struct result *result = fleet_holds(form);
    const struct fleet_form *best = &fleet->forms[fleet->best];
    frame_number(rows, DATA_servers, form->servers);
    frame_number(rows, DATA_all_gpus, form->servers * form->gpus);
    frame_number(rows, DATA_cost_per_hour, fleet_hour_cost(form));
    frame_number(rows, DATA_cost_per_million_tokens, fleet_tokens_cost(fleet, form));
    frame_number(rows, DATA_cost_per_request, fleet_request_cost(fleet, form));
    put_tie(fleet, form, rows);
    if (form != best) {
        frame_number(rows, DATA_times_cost, fleet_hour_cost(form) / fleet_hour_cost(best));
    }
    frame_number(rows, DATA_ttft, result_number(result, limited_time(fleet, true)));
    frame_number(rows, DATA_tpot, result_number(result, limited_time(fleet, false)));
    frame_result(rows, result);
    advise_put_limits(rows, DATA_limits, &fleet->targets, result);
}

static void fleet_put_row(const struct fleet_size *fleet, uint32_t index, struct frame *rows)
{
    const struct fleet_form *form = &fleet->forms[index];
    frame_row(rows);
    frame_text(rows, DATA_kind, "fleet");
    frame_text(rows, DATA_hardware, form->candidate->machine);
    frame_text(rows, DATA_weights, form->weights);
    frame_text(rows, DATA_system, form->candidate->system);
    frame_number(rows, DATA_gpus, form->gpus);
    frame_number(rows, DATA_fewer, form->fewer > 0 ? form->fewer : (double)NAN);
    frame_number(rows, DATA_price_per_hour, form->price > 0 ? form->price : (double)NAN);
    frame_number(rows, DATA_advised, index == fleet->best);
    if (form->servers > 0) {
        fleet_put_figures(fleet, form, rows);
        frame_say(rows);
    } else {
        put_why(fleet, form, rows);
        frame_say(rows);
        frame_reason_of(rows, DATA_all_gpus, DATA_why);
    }
}

/* The scenario of the run that is shown, and the run. */
static bool fleet_put_run(const struct fleet_size *fleet, const struct fleet_form *form,
                          struct frame *rows, struct error *why)
{
    uint32_t servers = form->servers > 0 ? form->servers : form->fewer;
    const struct result *run = form->servers > 0 ? fleet_holds(form) : fleet_misses(form);
    struct scenario scenario;
    if (servers == 0) {
        return run == NULL || run_put_json(run, rows, DATA_run, why);
    }
    bool good = fleet_scenario(fleet, form, servers, &scenario, why) &&
                advise_put_run(&scenario, run, rows, DATA_scenario, DATA_run, why);
    scenario_release(&scenario);
    return good;
}

/* ---- all of it ---- */

struct frame *fleet_rows(const struct fleet_size *fleet, bool for_people, struct error *why)
{
    struct frame_column columns[COLUMNS];
    memcpy(columns, fixed_columns, sizeof columns);
    columns[DATA_ttft].title = advise_title(limited_time(fleet, true));
    columns[DATA_tpot].title = advise_title(limited_time(fleet, false));
    struct frame *rows = frame_create(columns, COLUMNS, why);
    bool good = rows != NULL;
    for (uint32_t i = 0; good && i < fleet->count; i++) {
        if (!for_people || is_shown(fleet, i)) {
            fleet_put_row(fleet, i, rows);
            good = for_people || fleet_put_run(fleet, &fleet->forms[i], rows, why);
        }
    }
    if (!good) {
        frame_destroy(rows);
        return NULL;
    }
    return rows;
}
