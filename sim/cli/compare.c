/* `spillway compare`: the runs of a database beside measurements of a server, a row for each figure
 * that the measurement has and the run predicts. Published figures are held against predictions by
 * the Python module (python/spillway/papers.py). */

#include "cli/frame/question.h"
#include "cli/report/report_query.h"
#include "core/text.h"
#include "study/papers/measured_server.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEASURED_FILE, ROW };

static const struct command_option options[] = {
    [MEASURED_FILE] = {"--measured", "FILE",
                       "measurements of a server: what a benchmark of vLLM or SGLang wrote",
                       .required = true},
    [ROW] = {"--row", NULL,
             "print instead a row for a file of measured servers (scenarios/measured)"},
    {.name = NULL},
};

enum { FIGURE, MEASURED, PREDICTED, ERROR, COLUMNS };

static const struct frame_column columns[COLUMNS] = {
    [FIGURE] = {.title = "figure"},
    [MEASURED] = {.title = "measured", .unit = UNIT_COUNT},
    [PREDICTED] = {.title = "predicted", .unit = UNIT_COUNT},
    [ERROR] = {.title = "error", .unit = UNIT_CHANGE},
};

static void compare_measured_put_value(struct frame *frame, uint32_t column, double value)
{
    frame_textf(frame, column, "%.*f", value < 100 ? 2 : value < 1000 ? 1 : 0, value);
}

/* Answers of one token have a measured TPOT of 0. */
static struct frame *compare_measured_figures_frame(const struct result *result,
                                                    const struct measured *measured,
                                                    struct error *why)
{
    struct frame *frame = frame_create(columns, COLUMNS, why);
    for (int i = 0; i < MEASURED_FIGURES; i++) {
        double was = measured->value[i];
        double predicted = measured_predicted(result, &measured_figures[i]);
        if (!isnan(was) && !isnan(predicted)) {
            frame_row(frame);
            frame_text(frame, FIGURE, measured_figures[i].what);
            compare_measured_put_value(frame, MEASURED, was);
            compare_measured_put_value(frame, PREDICTED, predicted);
            frame_number(frame, ERROR, was > 0 ? predicted / was - 1 : (double)NAN);
        }
    }
    return frame;
}

/* Does the load agree: rate, lengths, clients, gaps? Prints what does not. Requests that arrive all at
 * once have no rate. The context is a whole number, so the answer is known to a token. */
static bool compare_print_load(const struct result *result, const struct measured *measured)
{
    const struct cell *cells = result->cells, *in = &cells[COLUMN(requests_in_per_s)->index];
    double count = (double)cells[COLUMN(requests)->index].integer;
    double prompt = (double)cells[COLUMN(prompt_tokens)->index].integer / count;
    double fewer = fmin(count, measured->requests);
    double output = 2 * ((double)cells[COLUMN(context)->index].integer - prompt);
    json_t *scenario = json_loads(result->scenario, 0, NULL);
    const char *clients = json_string_value(json_object_get(scenario, "clients"));
    const char *bursts = json_string_value(json_object_get(scenario, "burstiness"));
    const struct {
        const char *what;
        double measured, run;
        double requests; /* of which it is the mean; 0: the benchmark states it */
        double off;      /* by which it may be */
    } loads[] = {
        {"requests a second (inf: all at once) are", measured->rate,
         in->set ? in->real : (double)INFINITY, count, 0},
        {"tokens of a prompt are", measured->prompts / measured->requests, prompt, fewer, 0},
        {"tokens of an answer are", measured->outputs / measured->requests, output, fewer, 1},
        {"requests at a time are at most", measured->clients,
         clients != NULL ? strtod(clients, NULL) : (double)INFINITY, 0, 0},
        {"the burstiness is", isfinite(measured->rate) ? measured->burstiness : (double)NAN,
         bursts != NULL ? strtod(bursts, NULL) : 1, 0, 0},
    };
    bool same = !measured->ramps;
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        double was = loads[i].measured, is = loads[i].run;
        bool agrees = isnan(was) || was == is || fabs(was - is) <= loads[i].off ||
                      (isfinite(was) && isfinite(is) && loads[i].requests > 0 &&
                       measured_agrees_in_rate(was, is, loads[i].requests));
        if (!agrees) {
            printf("note: %s %.6g in the measurement, and %.6g in the run\n", loads[i].what, was,
                   is);
        }
        same = same && agrees;
    }
    if (measured->ramps) {
        printf("note: the rate changes in the measurement (ramp_up_strategy)\n");
    }
    json_decref(scenario);
    return same;
}

/* How the run differs from the measurement (requests, model, load). Returns whether they can be of the
 * same load of the same model: endless requests and those of a benchmark are never equally many. */
static bool compare_measured_print_notes(const struct result *result,
                                         const struct measured *measured)
{
    const struct cell *cells = result->cells;
    double requests = (double)cells[COLUMN(requests)->index].integer;
    if (!isnan(measured->requests) && measured->requests != requests) {
        printf("note: %.0f requests were measured, and %.0f predicted\n", measured->requests,
               requests);
    }
    bool same_model =
        measured->model[0] == '\0' || name_holds(measured->model, cells[COLUMN(model)->index].text);
    if (!same_model) {
        printf("note: %s was measured, and %s predicted\n", measured->model,
               cells[COLUMN(model)->index].text);
    }
    return compare_print_load(result, measured) && same_model && measured->requests != 0;
}

/* Other questions about this server take its error by these keys. */
static void print_measured_keys(const struct result *result, const struct measured *measured)
{
    const char *before = "other questions about this server: ";
    for (int i = 0; i < MEASURED_FIGURES; i++) {
        const struct measured_figure *figure = &measured_figures[i];
        if (figure->key == NULL) {
            continue;
        }
        double times = measured->value[i] / measured_predicted(result, figure);
        const struct scenario_key *key = scenario_key_find(figure->key, strlen(figure->key));
        if (times >= key->least && times <= key->most) {
            printf("%s--set %s=%.3gx", before, figure->key, times);
            before = " ";
        }
    }
    fputs(before[1] == '\0' ? "\n" : "", stdout);
}

/* What is printed of a database. */
struct comparison {
    struct store *store;
    const struct measured *measured;
    bool row;      /* as a row of measured servers */
    uint32_t runs; /* so far */
};

static void leave_out_same(json_t *object, const json_t *other)
{
    const char *key;
    json_t *value;
    void *next;
    json_object_foreach_safe(object, next, key, value)
    {
        const json_t *same = json_object_get(other, key);
        if (same != NULL && json_equal(value, same)) {
            json_object_del(object, key);
        } else if (json_is_object(value)) {
            leave_out_same(value, same);
        }
    }
}

/* The names of the run's model, machine, system, engine and load, and all else that its scenario states and
 * they do not set. The caller frees it. */
static char *row_settings(const char *text)
{
    static const char *const names[] = {"model", "hardware", "system", "engine", "workload"};
    struct error unseen;
    struct scenario named;
    struct point point;
    json_t *all = json_loads(text, 0, NULL), *row = json_object();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        json_object_set(row, names[i], json_object_get(all, names[i]));
    }
    char *map = json_dumps(row, 0);
    struct node *node = node_parse(map, strlen(map), "row", &unseen);
    bool good = scenario_init(&named, &unseen) && node != NULL;
    if (good && scenario_set(&named, node, &unseen) && scenario_point(&named, 0, &point, &unseen)) {
        json_t *set = json_loads(point.scenario, 0, NULL);
        leave_out_same(all, set);
        json_decref(set);
        point_release(&point);
    }
    scenario_release(&named);
    node_destroy(node);
    json_object_update_missing(row, all);
    free(map);
    map = json_dumps(row, 0);
    json_decref(row);
    json_decref(all);
    return map;
}

/* As YAML. */
static bool print_as_row(const struct result *result, const struct measured *measured,
                         struct error *why)
{
    char served[256] = "";
    for (int i = 0; i < MEASURED_FIGURES; i++) {
        if (measured_figures[i].key != NULL && measured->value[i] > 0) {
            text_append(served, sizeof served, "%s%s: %.6g%s", served[0] ? ", " : "",
                        measured_figures[i].column, measured->value[i],
                        i == MEASURED_FIGURES - 1 ? "" : "ms");
        }
    }
    if (served[0] == '\0') {
        return error_set(why, NULL, 0, "no mean TTFT, TPOT or rate was measured");
    }
    const struct cell *cells = result->cells;
    char *settings = row_settings(result->scenario);
    printf("  - what: %s on %s\n    set: %s\n    served: {%s}\n", cells[COLUMN(model)->index].text,
           cells[COLUMN(hardware)->index].text, settings, served);
    free(settings);
    return true;
}

/* Print a run of plots/served.sql: its name, and what distinguishes it from the others. */
static bool print_run(uint32_t count, const char *const *names, const char *const *values,
                      void *context, struct error *why)
{
    struct comparison *comparison = context;
    const struct measured *measured = comparison->measured;
    struct result result;
    (void)count;
    (void)names;
    comparison->runs++;
    if (!store_get(comparison->store, values[0], &result, why)) {
        return false;
    }
    if (comparison->row) {
        bool printed = print_as_row(&result, measured, why);
        result_release(&result);
        return printed;
    }
    const struct cell *cells = result.cells;
    struct frame *frame = compare_measured_figures_frame(&result, measured, why);
    printf("%s, %s on %s%s%s, beside %s\n\n", cells[COLUMN(system)->index].text,
           cells[COLUMN(model)->index].text, cells[COLUMN(hardware)->index].text,
           values[1][0] != '\0' ? ", " : "", values[1], measured->tool);
    bool ok = frame_print(frame, NULL, stdout, why);
    if (compare_measured_print_notes(&result, measured)) {
        print_measured_keys(&result, measured);
    }
    putchar('\n');
    frame_destroy(frame);
    result_release(&result);
    return ok;
}

static bool print_runs(struct store *store, const char *database, const struct measured *measured,
                       bool row, struct error *why)
{
    const struct plot_statement statement = {.begin = "timed runs", .end = "served"};
    struct comparison comparison = {store, measured, row, 0};
    char *text = plot_statement_text(&statement, why);
    bool ok = text != NULL && store_query(store, text, print_run, &comparison, why);
    free(text);
    if (ok && comparison.runs == 0) {
        error_set(why, database, 0, "holds no run of a server with times");
        return error_expect(why, "a run of 'simulate --set workload=...', not with timed=no");
    }
    return ok;
}

static bool compare_run_command(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    struct measured measured;
    const char *database = arguments_operands(arguments, &count)[0];
    const char *path = arguments_text(arguments, MEASURED_FILE);
    if (!measured_read(path, &measured, why)) {
        return false;
    }
    char note[STORE_NOTE] = "";
    struct store *store = store_open_shown(database, note, why);
    database_print_note(note);
    bool ok = store != NULL &&
              print_runs(store, database, &measured, arguments_given(arguments, ROW), why);
    store_close(store);
    return ok;
}

const struct command command_compare = {
    .name = "compare",
    .operands = "DB",
    .summary = "compare predictions with measurements of a server",
    .example = "spillway compare results.db --measured benchmark.json",
    .options = options,
    .run = compare_run_command,
};
