/* `spillway compare`: a database's runs beside measurements of a server, a row for each figure of both. */

#include "cli/frame/question.h"
#include "cli/report/report_query.h"
#include "core/text.h"
#include "study/papers/measured_server.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MEASURED_FILE };

static const struct command_option options[] = {
    [MEASURED_FILE] = {"--measured", "FILE",
                       "measurements of a server: what a benchmark of vLLM or SGLang wrote",
                       .required = true},
    {.name = NULL},
};

enum { FIGURE, MEASURED, PREDICTED, ERROR, COLUMNS };

static const struct frame_column columns[COLUMNS] = {
    [FIGURE] = {.title = "figure"},
    [MEASURED] = {.title = "measured", .unit = UNIT_COUNT},
    [PREDICTED] = {.title = "predicted", .unit = UNIT_COUNT},
    [ERROR] = {.title = "error", .unit = UNIT_CHANGE},
};

/* Does the load agree: rate (unless all come at once), lengths, clients, gaps? Prints what does not. */
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

struct comparison {
    struct store *store;
    const struct measured *measured;
    uint32_t runs; /* so far */
};

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
    const struct cell *cells = result.cells;
    struct frame *frame = frame_create(columns, COLUMNS, why);
    for (int i = 0; i < MEASURED_FIGURES; i++) {
        double was = measured->value[i], is = measured_predicted(&result, &measured_figures[i]);
        if (!isnan(was) && !isnan(is)) {
            frame_row(frame);
            frame_text(frame, FIGURE, measured_figures[i].what);
            frame_textf(frame, MEASURED, "%.*f", was < 100 ? 2 : was < 1000 ? 1 : 0, was);
            frame_textf(frame, PREDICTED, "%.*f", is < 100 ? 2 : is < 1000 ? 1 : 0, is);
            /* answers of one token have a measured TPOT of 0 */
            frame_number(frame, ERROR, was > 0 ? is / was - 1 : (double)NAN);
        }
    }
    printf("%s, %s on %s%s%s, beside %s\n\n", cells[COLUMN(system)->index].text,
           cells[COLUMN(model)->index].text, cells[COLUMN(hardware)->index].text,
           values[1][0] != '\0' ? ", " : "", values[1], measured->tool);
    bool ok = frame_print(frame, NULL, stdout, why);
    /* How they differ. Endless requests and those of a benchmark are never equally many. */
    double requests = (double)cells[COLUMN(requests)->index].integer;
    const char *model = cells[COLUMN(model)->index].text;
    bool same_model = measured->model[0] == '\0' || name_holds(measured->model, model);
    if (!isnan(measured->requests) && measured->requests != requests) {
        printf("note: %.0f requests were measured, and %.0f predicted\n", measured->requests,
               requests);
    }
    if (!same_model) {
        printf("note: %s was measured, and %s predicted\n", measured->model, model);
    }
    if (compare_print_load(&result, measured) && same_model && measured->requests != 0) {
        print_measured_keys(&result, measured);
    }
    putchar('\n');
    frame_destroy(frame);
    result_release(&result);
    return ok;
}

static bool compare_run_command(const struct arguments *arguments, struct error *why)
{
    static const struct plot_statement served = {.begin = "timed runs", .end = "served"};
    uint32_t count;
    struct measured measured;
    char note[STORE_NOTE] = "";
    const char *database = arguments_operands(arguments, &count)[0];
    if (!measured_read(arguments_text(arguments, MEASURED_FILE), &measured, why)) {
        return false;
    }
    struct comparison comparison = {store_open_shown(database, note, why), &measured, 0};
    database_print_note(note);
    bool ok = comparison.store != NULL &&
              plot_query(&served, comparison.store, print_run, &comparison, why);
    store_close(comparison.store);
    if (ok && comparison.runs == 0) {
        error_set(why, database, 0, "holds no run of a server with times");
        return error_expect(why, "a run of 'simulate --set workload=...', not with timed=no");
    }
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
