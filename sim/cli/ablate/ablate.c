/* `spillway ablate`: what each mechanism in which a system differs from a base saves. */
#include "base/array.h"
#include "cli/ablate/ablate_report.h"
#include "cli/ablate/ablate_trades.h"
#include "cli/frame/arguments.h"
#include "cli/frame/columns.h"
#include "cli/frame/commands.h"
#include "cli/frame/database.h"
#include "cli/frame/jobs.h"
#include "cli/frame/output.h"
#include "cli/frame/progress.h"
#include "cli/frame/question.h"
#include "cli/runs/scenario_options.h"
#include "store/store_ablation.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

/* ---- rows of ablations.def, as JSON and in a database ------------------------------------- */

enum { NAMES = 512 };

/* A row, and the texts that it points to. */
struct room {
    struct store_ablation row;
    char others[NAMES], tried[ABLATE_SETTINGS], payoffs[ABLATE_PAYOFF];
};

static const char *text_of(const struct result *result, enum column column)
{
    const struct cell *cell = &result->cells[column];
    return cell->set ? cell->text : NULL;
}

static double real_of(const struct result *result, enum column column)
{
    const struct cell *cell = &result->cells[column];
    return cell->set ? cell->real : NAN;
}

static void fill_mechanism(const struct ablation *ablation, const struct ablation_row *row,
                           struct room *out)
{
    const struct difference *difference = &ablation->difference;
    if (row->kind == ABLATION_BASE || row->kind == ABLATION_WHOLE) {
        return;
    }
    out->row.mechanism = difference->mechanisms[row->mechanism].name;
    out->row.changes = difference->mechanisms[row->mechanism].changes;
    if (row->others != 0) {
        out->row.others =
            difference_names(difference, row->others, false, out->others, sizeof out->others);
    }
}

static void fill_run(const struct result *result, struct store_ablation *out)
{
    const struct cell *step = &result->cells[COLUMN_STEP];
    out->status = text_of(result, COLUMN_STATUS);
    out->message = result->message[0] != '\0' && !step->set ? result->message : NULL;
    out->run = text_of(result, COLUMN_RUN);
    out->step_us = step->set ? (double)step->integer / 1e3 : NAN;
    out->decode_tokens_per_s = real_of(result, COLUMN_DECODE_RATE);
    out->hit_ratio = real_of(result, COLUMN_HIT_RATIO);
    out->mass_recall = real_of(result, COLUMN_MASS_RECALL);
}

static void fill_savings(const struct ablation *ablation, const struct ablation_row *row,
                         struct store_ablation *out)
{
    struct ablation_sum sum;
    int64_t ns;
    double times, least, most;
    bool saves = row->kind != ABLATION_BASE && ablation_saves(ablation, row, &ns, &times);
    bool ranged = saves && ablation_range(ablation, row, &least, &most);
    bool adds_up = row->kind == ABLATION_WHOLE && ablation_add_up(ablation, &sum);
    out->saves_us = saves ? (double)ns / 1e3 : NAN;
    out->saves_us_low = ranged ? least / 1e3 : NAN;
    out->saves_us_high = ranged ? most / 1e3 : NAN;
    out->gain = saves ? times : NAN;
    out->alone_us = adds_up ? (double)sum.alone_ns / 1e3 : NAN;
    out->interaction_us = adds_up ? (double)sum.interaction_ns / 1e3 : NAN;
    out->interaction_gain = adds_up ? sum.interaction_times : NAN;
}

static void fill_trade(const struct ablation *ablation, const struct ablation_row *row,
                       struct store_ablation *out)
{
    struct ablation_trade trade;
    double more[TRADE_MEASURES];
    bool known = row->kind != ABLATION_BASE && ablation_trade(ablation, row, &trade);
    for (int i = 0; i < TRADE_MEASURES; i++) {
        more[i] = known ? trade.with[i] - trade.without[i] : NAN;
    }
    out->mass_more = more[TRADE_MASS];
    out->hbm_more_bytes = more[TRADE_HBM];
    out->dram_more_bytes = more[TRADE_DRAM];
    out->cpu_more_us = more[TRADE_CPU] / 1e3;
    out->link_more_bytes = more[TRADE_LINK];
}

static void fill_payoff(const struct ablation *ablation, const struct ablation_row *row,
                        struct room *out)
{
    const struct ablation_payoff *payoff = &ablation->payoffs[row->mechanism];
    int64_t ns;
    out->row.together_us = ablation_together(ablation, row, &ns) ? (double)ns / 1e3 : NAN;
    if (row->kind == ABLATION_LEFT_OUT && row->refused == NULL && payoff->kind != PAYOFF_UNTRIED) {
        out->row.tried = ablate_settings(ablation, out->tried);
        out->row.turns = ablate_payoff(payoff, out->payoffs);
    }
}

static void fill(const struct ablation *ablation, uint32_t place, struct room *out)
{
    const struct ablation_row *row = &ablation->rows[place];
    static const struct result none = {.message = ""};
    out->row = (struct store_ablation){
        .ablation = ablation->name,
        .place = place,
        .kind = ablation_kinds[row->kind],
        .system = ablation->system.name,
        .base = ablation->base.name,
    };
    fill_mechanism(ablation, row, out);
    fill_run(row->refused == NULL ? ablation_result(ablation, row->shown) : &none, &out->row);
    if (row->refused != NULL) {
        out->row.status = "refused";
        out->row.message = row->refused;
    }
    fill_savings(ablation, row, &out->row);
    fill_trade(ablation, row, &out->row);
    fill_payoff(ablation, row, out);
}

static json_t *json_of_TEXT(const char *text)
{
    return text != NULL ? json_string(text) : json_null();
}

static json_t *json_of_INTEGER(int64_t number)
{
    return json_integer(number);
}

static json_t *json_of_REAL(double number)
{
    return isfinite(number) ? json_real(number) : json_null();
}

static json_t *json_of_US(double number)
{
    return json_of_REAL(number);
}

/* Twelve digits: picoseconds in a second, and as many as a figure has. Write errors of `out` are
 * found when it is flushed. */
static bool print_object(json_t *object, FILE *out, struct error *why)
{
    char *text = json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12));
    if (text == NULL) {
        return error_set(why, NULL, 0, "a row is not UTF-8, so it cannot be written as JSON");
    }
    fprintf(out, "%s\n", text);
    free(text);
    return true;
}

/* Print one JSON object per row, each on its own line. Fails on text that is not UTF-8. */
static bool print_json(const struct ablation *ablation, FILE *out, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < ablation->row_count; i++) {
        struct room room;
        fill(ablation, i, &room);
        json_t *object = json_object();
        bool all = object != NULL;
#define COLUMN(name, type, what)                                                                   \
    all = all && json_object_set_new(object, #name, json_of_##type(room.row.name)) == 0;
#include "store/ablations.def"
#undef COLUMN
        good = print_object(all ? object : NULL, out, why);
        json_decref(object);
    }
    return good;
}

static bool store_rows(const struct ablation *ablation, struct store *store, struct error *why)
{
    uint32_t count = ablation->row_count;
    struct room *rooms = array_zeroed(count, sizeof *rooms, why);
    struct store_ablation *rows = array_zeroed(count, sizeof *rows, why);
    bool good = rooms != NULL && rows != NULL;
    for (uint32_t i = 0; good && i < count; i++) {
        fill(ablation, i, &rooms[i]);
        rows[i] = rooms[i].row;
    }
    good = good && store_put_ablations(store, rows, count, why);
    free(rooms);
    free(rows);
    return good;
}

/* ---- the command ------------------------------------------------------------------------- */

enum { AGAINST, SET, DB, JOBS, NO_CACHE, COLUMNS, WIDE, JSON };

static const struct command_option options[] = {
    [AGAINST] = {.name = "--against",
                 .argument = "SYSTEM",
                 .summary = "the base system to compare with (default: the baseline named by the "
                            "system's preset, else fullattn)"},
    [SET] = SCENARIO_SET_OPTION,
    [DB] = {.name = "--db",
            .argument = "FILE",
            .summary = "store runs and rows in this SQLite file, for 'plot ablate'; runs already "
                       "in it are reused"},
    [JOBS] = JOBS_OPTION,
    [NO_CACHE] = NO_CACHE_OPTION,
    [COLUMNS] = COLUMNS_OPTION,
    [WIDE] = WIDE_OPTION,
    [JSON] = {.name = "--json",
              .summary = "print one JSON object per row, each on its own line, and nothing else"},
    {.name = NULL},
};

static void print_meaning(FILE *out)
{
    fputs("rows:\n"
          "  + MECHANISM      the base with this mechanism of the system; if that is invalid,\n"
          "                   the reason, and the mechanism on top of the fewest it needs\n"
          "  - MECHANISM      the system without this mechanism; if that is invalid, the\n"
          "                   reason, and the system also without the fewest that go with it\n"
          "saves: the step without the mechanism minus the step with it, all else equal\n"
          "interaction: what the system saves minus the sum of what each mechanism saves alone\n"
          "Sentences below the table say what a mechanism that costs at least 0.5 % of the step\n"
          "buys instead: the run without it against the run with it. If it costs time when it is\n"
          "added last, both runs are repeated at a quarter and four times the batch, at a quarter\n"
          "of the context, and at a sixteenth and 16 times.\n"
          "Overrides (--set mechanisms.KEY=VALUE) change the system, not the base.\n",
          out);
    uint32_t count;
    const struct table_column *columns = ablate_columns(&count);
    columns_print("\ncolumns of the table, for --columns:", columns, count, out);
}

/* A failed run is shown as a row like the others; the command then fails with its error. */
static bool show(const struct arguments *arguments, const struct ablation *ablation,
                 const struct table_view *view, struct error *why)
{
    return (arguments_given(arguments, JSON) ? print_json(ablation, stdout, why)
                                             : ablate_report(ablation, view, stdout, why)) &&
           output_flush(stdout, "standard output", why) &&
           sweep_check(ablation->results, ablation->done, why);
}

static bool study(const struct arguments *arguments, const struct scenario *scenario,
                  const struct ablation_options *with, const struct table_view *view,
                  struct error *why)
{
    struct ablation ablation;
    bool interrupted = false;
    bool good = ablation_run(scenario, with, &ablation, &interrupted, why);
    good = progress_end(good, interrupted, "all runs were done", why);
    good = good && (with->store == NULL || store_rows(&ablation, with->store, why)) &&
           show(arguments, &ablation, view, why);
    ablation_release(&ablation);
    return good;
}

static bool run(const struct arguments *arguments, struct error *why)
{
    struct run_context runs = {.threads = 0};
    struct ablation_options with = {
        .against = arguments_text(arguments, AGAINST), .runs = &runs, .on_progress = progress_runs};
    struct scenario scenario;
    struct table_view view;
    uint32_t count;
    const struct table_column *columns = ablate_columns(&count);
    if (!jobs_read(arguments, JOBS, &with.jobs, why) ||
        !columns_read(arguments, COLUMNS, WIDE, JSON, &view, why) ||
        !table_view_check(&view, columns, count, why) ||
        !scenario_from_arguments(arguments, SET, &scenario, why)) {
        return false;
    }
    bool good = database_open(arguments, DB, &with.store, why) &&
                question_begin(&runs, &scenario, with.jobs, false, why) &&
                question_cache(&runs, arguments, NO_CACHE) &&
                study(arguments, &scenario, &with, &view, why);
    question_end(&runs, &scenario);
    store_close(with.store);
    scenario_release(&scenario);
    return good;
}

const struct command command_ablate = {
    .name = "ablate",
    .operands = "[FILE...]",
    .most_operands = COMMAND_MANY,
    .summary = "take a system apart: what each of its mechanisms saves, alone and together",
    .example = "spillway ablate --set model=llama-3-8b --set hardware=a40 --set context=128K \\\n"
               "    --set trace=smollm2-135m --set system=litecache --against retroinfer",
    .options = options,
    .more = print_meaning,
    .run = run,
};
