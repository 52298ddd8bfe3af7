/* `advise --rate`: how many GPUs of which machine hold a rate of requests. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/advise/advise_answer.h"
#include "cli/advise/advise_question.h"
#include "cli/frame/message.h"
#include "cli/frame/output.h"
#include "cli/plan/deployment.h"
#include "cli/runs/runs_notes.h"
#include "cli/runs/runs_text.h"
#include "core/node.h"
#include "core/text.h"
#include "core/units.h"
#include "study/advise/advice.h"
#include "study/plan/host_room.h"
#include "tables/sentence.h"
#include "tables/verdict.h"

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

/* Options that have no part in a question about a rate. */
bool advise_rate_check(const struct arguments *arguments, struct error *why)
{
    static const char *const systems =
        "only systems that lose nothing and can be started are candidates";
    static const struct {
        int option;
        const char *expect;
    } unused[] = {{ADVISE_MASS, systems},
                  {ADVISE_PAPER, systems},
                  {ADVISE_WIDE, "--json, which has all forms"}};
    for (size_t i = 0; i < sizeof unused / sizeof *unused; i++) {
        if (arguments_given(arguments, unused[i].option)) {
            error_usage(why, NULL, 0, "'%s' does not apply to '--rate'",
                        advise_options[unused[i].option].name);
            return error_expect(why, "%s", unused[i].expect);
        }
    }
    return true;
}

static void show_fleet(double share, const char *what, void *context)
{
    char left[PROGRESS_LEFT];
    (void)context;
    progress_show((uint32_t)(100 * share), 100, "%.0f %%: %s%s", 100 * share, what,
                  progress_left(share, left));
}

static bool read_rate(const struct arguments *arguments, double *out, struct error *why)
{
    const char *text = arguments_text(arguments, ADVISE_RATE);
    if (!units_parse(text, UNIT_COUNT, NULL, 0, "--rate", out, why)) {
        return error_expect(why, "requests a second, such as 0.3");
    }
    if (*out < 1e-6 || *out > 1e6) {
        error_usage(why, "--rate", 0, "'%.40s' is no rate that can be served", text);
        return error_expect(why, "0.000001 to 1000000 requests a second");
    }
    return true;
}

/* What the figures of the shown forms rest on, as below every table. */
static bool print_notes(const struct fleet_size *fleet, bool reasons, struct error *why)
{
    struct runs_notes *notes = runs_notes_create(why);
    for (uint32_t i = 0; notes != NULL && i < fleet->count; i++) {
        if (fleet->forms[i].servers > 0) {
            runs_notes_add(notes, fleet_holds(&fleet->forms[i]));
        }
    }
    bool good = notes != NULL;
    if (good && fleet->best != FLEET_NONE) {
        runs_notes_print_below(notes, reasons, stdout);
    }
    runs_notes_destroy(notes);
    return good;
}

/* Forms with tiers below host memory would make the search twice as long. */
static void print_unweighed(const struct fleet_size *fleet)
{
    bool has_lower = false;
    for (uint32_t i = 0; i < fleet->count; i++) {
        has_lower = has_lower || fleet->forms[i].has_lower;
    }
    if (has_lower) {
        table_line(
            "not weighed: ",
            "drives and pools, with --rate: 'simulate --set system=vllm-tiering' or vllm-mooncake does",
            stdout);
    }
}

/* Each machine's best form, and others that the whole workload was tried with. */
static bool is_shown(const struct fleet_size *fleet, uint32_t index)
{
    const struct fleet_form *form = &fleet->forms[index];
    return form->servers > 0 || fleet_best_on(fleet, form->candidate->machine) == index;
}

/* Forms that the table does not show, by their reason, and how much was run to know it. */
static void fleet_print_rest(const struct fleet_size *fleet, FILE *out)
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

static bool print_fleet(const struct arguments *arguments, const struct fleet_size *fleet,
                        const struct frame *verdict, const struct frame *rows, struct error *why)
{
    if (!verdict_print(verdict, stdout, why) || !frame_print(rows, NULL, stdout, why)) {
        return false;
    }
    fleet_print_rest(fleet, stdout);
    print_unweighed(fleet);
    if (fleet->best != FLEET_NONE) {
        const struct fleet_form *best = &fleet->forms[fleet->best];
        advise_print_unshared(&best->scenario, best->gpus, "--rate", stdout);
    }
    advise_print_made(arguments, &fleet->candidates[0].scenario, stdout);
    bool good = print_notes(fleet, arguments_given(arguments, ADVISE_WHY), why);
    if (good && fleet->interrupted) {
        table_line("note: ", "interrupted: this is the best so far, and others may be cheaper",
                   stdout);
    }
    return good;
}

/* The files that start what is advised. */
static bool deploy_fleet(const struct arguments *arguments, const struct fleet_size *fleet,
                         struct error *why)
{
    const char *folder = arguments_text(arguments, ADVISE_DEPLOY);
    struct scenario scenario;
    if (folder == NULL || fleet->best == FLEET_NONE) {
        return true;
    }
    const struct fleet_form *best = &fleet->forms[fleet->best];
    bool good = fleet_scenario(fleet, best, best->servers, &scenario, why) &&
                deployment_write(&(struct deployment){&scenario, fleet_holds(best), best->servers},
                                 folder, why);
    scenario_release(&scenario);
    return good;
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

/* Dollars of all servers an hour; and at the rate that was asked for a request, and a million output
 * tokens. NaN without a price, or if none holds the rate. */
static double fleet_hour_cost(const struct fleet_form *form)
{
    return form->price > 0 && form->servers > 0 ? fleet_cost(form, form->servers) : NAN;
}

static double fleet_request_cost(const struct fleet_size *fleet, const struct fleet_form *form)
{
    return fleet_hour_cost(form) / 3600 / fleet->rate;
}

/* Servers are paid for while requests come; that the last ones are answered later is of the run. */
static double fleet_tokens_cost(const struct fleet_size *fleet, const struct fleet_form *form)
{
    const struct result *result = fleet_holds(form);
    double tokens = result == NULL ? NAN
                                   : result_number(result, COLUMN(decode_tokens_per_s)) /
                                         result_number(result, COLUMN(requests_out_per_s));
    return 1e6 * fleet_request_cost(fleet, form) / tokens;
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

static struct frame *fleet_rows(const struct fleet_size *fleet, bool for_people, struct error *why)
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

/* An interrupted search says so before it names a cost. */
static void put_undecided(const struct fleet_size *fleet, struct frame *verdict)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < fleet->count; i++) {
        open += fleet->forms[i].refused[0] == '\0' && !fleet->forms[i].decided;
    }
    if (fleet->interrupted) {
        frame_textf(verdict, VERDICT_undecided,
                    "the best so far, while %u of %u forms are not decided", open, fleet->count);
    }
}

static void fleet_put_form(const struct fleet_size *fleet, const struct fleet_form *best,
                           struct frame *verdict)
{
    const struct advice_form as = {best->servers, best->gpus};
    char shape[ADVISE_WORDS];
    uint32_t gpus = best->servers * best->gpus;
    put_undecided(fleet, verdict);
    frame_text(verdict, VERDICT_system, best->candidate->system);
    frame_text(verdict, VERDICT_hardware, best->candidate->machine);
    frame_text(verdict, VERDICT_weights, best->weights);
    frame_number(verdict, VERDICT_gpus, best->gpus);
    frame_number(verdict, VERDICT_servers, best->servers);
    frame_number(verdict, VERDICT_all_gpus, gpus);
    frame_text(verdict, VERDICT_form, gpus > 1 ? advise_form(&as, shape) : NULL);
    frame_number(verdict, VERDICT_tiers, best->candidate->traits.tiers);
    frame_number(verdict, VERDICT_cost_per_hour, fleet_hour_cost(best));
    frame_number(verdict, VERDICT_cost_per_million_tokens, fleet_tokens_cost(fleet, best));
    frame_number(verdict, VERDICT_cost_per_request, fleet_request_cost(fleet, best));
}

/* What the whole workload took, and what it takes with fewer servers. */
static void put_meets(const struct fleet_size *fleet, const struct fleet_form *best,
                      struct frame *verdict)
{
    const struct result *result = fleet_holds(best);
    char time[ADVISE_WORDS];
    frame_number(verdict, VERDICT_requests, result_number(result, COLUMN(requests)));
    advise_put_limits(verdict, VERDICT_limits, &fleet->targets, result);
    advise_put_queued(verdict, &fleet->targets, result);
    frame_text(verdict, VERDICT_ttft_p50_text,
               advise_time(result_number(result, COLUMN(ttft_p50_ms)), time));
    if (best->fewer > 0) {
        frame_number(verdict, VERDICT_fewer, best->fewer);
        advise_put_limits(verdict, VERDICT_limits_with_fewer, &fleet->targets, fleet_misses(best));
    }
}

/* Host memory that the answer is started with, where the scenario states none. */
static bool put_host(const struct fleet_form *best, const struct scenario *scenario,
                     struct frame *verdict, struct error *why)
{
    uint64_t gib = fleet_host_gib(best, best->servers);
    struct point point;
    if (gib == 0) {
        return true;
    }
    if (!scenario_point(scenario, 0, &point, why)) {
        return false;
    }
    const struct host_engine *engine = host_room_engine(&point);
    frame_number(verdict, VERDICT_host_bytes, (double)(gib << 30));
    if (best->most_host_gib > gib) {
        frame_number(verdict, VERDICT_most_host_bytes, (double)(best->most_host_gib << 30));
    }
    if (engine != NULL) {
        frame_textf(verdict, VERDICT_host_engine, "%s %s", engine->engine, engine->versions);
        frame_text(verdict, VERDICT_host_where, host_engine_where(engine));
        frame_number(verdict, VERDICT_host_takes_bytes, host_takes(&point, gib));
    }
    point_release(&point);
    return true;
}

static bool fleet_put_best(const struct fleet_size *fleet, struct frame *verdict, struct error *why)
{
    const struct fleet_form *best = &fleet->forms[fleet->best];
    struct scenario scenario;
    fleet_put_form(fleet, best, verdict);
    put_meets(fleet, best, verdict);
    bool good = fleet_scenario(fleet, best, best->servers, &scenario, why) &&
                put_host(best, &scenario, verdict, why) &&
                verdict_put_start(verdict, &scenario, &fleet->targets, fleet_holds(best),
                                  best->servers, why);
    scenario_release(&scenario);
    return good;
}

static struct frame *fleet_verdict(const struct fleet_size *fleet, const char *model,
                                   struct frame *rows, struct error *why)
{
    struct frame *verdict = verdict_create(model, &fleet->candidates[0].scenario,
                                           &fleet->forms[0].scenario, &fleet->targets, why);
    bool good = verdict != NULL;
    frame_keep(verdict, VERDICT_forms, rows);
    frame_number(verdict, VERDICT_rate, fleet->rate);
    frame_textf(verdict, VERDICT_asked, "%g", fleet->rate);
    frame_number(verdict, VERDICT_one, fleet->rate == 1);
    if (fleet->best != FLEET_NONE) {
        good = good && fleet_put_best(fleet, verdict, why);
    } else if (fleet->interrupted) {
        frame_text(verdict, VERDICT_nothing, "the search was interrupted");
    } else {
        frame_textf(verdict, VERDICT_nothing,
                    "no form of up to %u GPUs holds %g request%s a second within the limits",
                    fleet->most_gpus, fleet->rate, fleet->rate == 1 ? "" : "s");
    }
    if (!good) {
        frame_destroy(verdict);
        return NULL;
    }
    frame_say(verdict);
    return verdict;
}

/* What was found before an interruption is shown, if that is anything, and the command fails all
 * the same. */
static bool answer_fleet(const struct arguments *arguments, const struct fleet_size *fleet,
                         struct store *store, struct error *why)
{
    uint32_t operands;
    const char *model = *arguments_operands(arguments, &operands);
    bool json = arguments_given(arguments, ADVISE_JSON);
    if (!json && fleet->interrupted && fleet->best == FLEET_NONE) {
        return true;
    }
    const struct result *best =
        fleet->best != FLEET_NONE ? fleet_holds(&fleet->forms[fleet->best]) : NULL;
    struct frame *rows = fleet_rows(fleet, !json, why);
    struct frame *verdict = rows != NULL ? fleet_verdict(fleet, model, rows, why) : NULL;
    bool good =
        verdict != NULL &&
        (json ? verdict_print_json(verdict, stdout, why) && frame_print_json(rows, stdout, why)
              : print_fleet(arguments, fleet, verdict, rows, why)) &&
        output_flush(stdout, "standard output", why) &&
        advise_page(arguments, store, best, &fleet->targets, verdict, why) &&
        deploy_fleet(arguments, fleet, why);
    frame_destroy(verdict);
    return good && (fleet->interrupted || fleet->best != FLEET_NONE ||
                    error_unmet(why, "no form holds the rate within the limits"));
}

bool advise_at_rate(const struct arguments *arguments, const struct scenario *scenario,
                    struct advice_options *with, struct error *why)
{
    uint32_t operands;
    struct fleet_options options = {.targets = with->targets,
                                    .machines = arguments_operands(arguments, &operands)[1],
                                    .prices = arguments_text(arguments, ADVISE_PRICE),
                                    .weights = arguments_text(arguments, ADVISE_WEIGHTS),
                                    .most_gpus = with->gpus,
                                    .store = with->store,
                                    .jobs = with->jobs,
                                    .runs = with->runs,
                                    .on_progress = show_fleet};
    struct fleet_size fleet;
    bool interrupted = false;
    if (!read_rate(arguments, &options.rate, why) ||
        !advice_add_targets(true, &options.targets, why)) {
        return false;
    }
    bool good = fleet_size_run(scenario, &options, &fleet, &interrupted, why);
    progress_clear();
    good = good && answer_fleet(arguments, &fleet, with->store, why);
    good = progress_end(good, interrupted, "the search had ended", why);
    fleet_size_release(&fleet);
    return good;
}

/* A row for each form of a fleet. */

/* ---- cells ---- */

/* ---- all of it ---- */

/* The verdict about a rate of requests: the values that its sentences say. */

/* ---- what holds the rate ---- */
