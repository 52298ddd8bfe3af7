#include "cli/advise/advise_hire.h"

#include "base/node.h"
#include "base/text.h"
#include "cli/advise/advise_hire_words.h"
#include "cli/frame/figures.h"
#include "answer/table.h"
#include "cli/runs/runs_text.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE, GPUS, SERVERS, WEIGHTS, SYSTEM, HOUR, MILLION, REQUEST, TTFT, TPOT, COLUMNS };
enum { INDENT = 9, LINE = 2048, CELL = 32 };

/* ---- the table ---- */

static bool add_missing(const struct hire *hire, const struct hire_form *form, struct table *table,
                        struct error *why)
{
    char text[VERDICT_TEXT] = "";
    const char *texts[COLUMNS] = {form->candidate->machine, text};
    hire_say_why(hire, form, text);
    return table_add(table, texts, GPUS + 1, why);
}

static bool add_form(const struct hire *hire, const struct hire_form *form, struct table *table,
                     struct error *why)
{
    char gpus[CELL], servers[CELL], hour[CELL], request[CELL];
    char million[FIGURE], ttft[FIGURE], tpot[FIGURE];
    const struct result *result = hire_holds(form);
    const char *texts[COLUMNS] = {form->candidate->machine};
    if (result == NULL) {
        return add_missing(hire, form, table, why);
    }
    snprintf(gpus, sizeof gpus, "%u", form->servers * form->gpus);
    snprintf(servers, sizeof servers, "%u x %u", form->servers, form->gpus);
    snprintf(hour, sizeof hour, "%.2f", hire_cost(form, form->servers));
    double cost_of_one = form->price > 0 ? hire_request_cost(hire, form) : 1;
    snprintf(request, sizeof request, "%.*f", hire_cost_digits(cost_of_one), cost_of_one);
    texts[GPUS] = gpus;
    texts[SERVERS] = servers;
    texts[WEIGHTS] = form->weights;
    texts[SYSTEM] = form->candidate->system;
    texts[HOUR] = form->price > 0 ? hour : NULL;
    texts[MILLION] = figure_dollars(&result->cells[COLUMN_COST], million);
    texts[REQUEST] = form->price > 0 ? request : NULL;
    texts[TTFT] = figure_ms(result->cells[COLUMN_TTFT_P99].integer, ttft);
    texts[TPOT] = figure_ms(result->cells[COLUMN_TPOT_P99].integer, tpot);
    return table_add(table, texts, COLUMNS, why);
}

/* Each machine's best form, and others that the whole workload was tried with. */
static bool is_shown(const struct hire *hire, uint32_t index)
{
    const struct hire_form *form = &hire->forms[index];
    return form->servers > 0 || hire_best_on(hire, form->candidate->machine) == index;
}

static bool print_table(const struct hire *hire, FILE *out, struct error *why)
{
    static const struct table_column columns[COLUMNS] = {
        [MACHINE] = {.title = "machine"},
        [GPUS] = {.title = "GPUs", .right = true},
        [SERVERS] = {.title = "servers", .right = true, .optional = true},
        [WEIGHTS] = {.title = "weights", .optional = true},
        [SYSTEM] = {.title = "system", .optional = true},
        [HOUR] = {.title = "$/h", .right = true, .optional = true},
        [MILLION] = {.title = "$/M tok", .right = true, .optional = true},
        [REQUEST] = {.title = "$/request", .right = true, .optional = true},
        [TTFT] = {.title = "TTFT p99 ms", .right = true, .optional = true},
        [TPOT] = {.title = "TPOT p99 ms", .right = true, .optional = true},
    };
    struct table *table = table_create(columns, COLUMNS, why);
    bool good = table != NULL;
    for (uint32_t i = 0; good && i < hire->count; i++) {
        good = !is_shown(hire, i) || add_form(hire, &hire->forms[i], table, why);
    }
    if (good) {
        table_print(table, out);
    }
    table_destroy(table);
    return good;
}

/* ---- around it ---- */

static void print_title(const struct hire *hire, const char *model, FILE *out)
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

/* Why the table does not show a form, in short. */
static const char *reason_of(const struct hire_form *form)
{
    const struct result *misses = hire_misses(form);
    return form->refused[0] != '\0'             ? form->refused
           : misses != NULL && form->fewer == 0 ? "a request alone misses a limit"
           : misses != NULL                     ? "as many servers as cost no more miss a limit"
           : form->decided                      ? "one server costs more"
                                                : "not decided";
}

/* Reasons that differ in their numbers alone are one. */
static bool is_same(const char *a, const char *b)
{
    static const char digits[] = "0123456789.";
    while (*a != '\0' && *a == *b) {
        a += 1 + strspn(a + 1, digits);
        b += 1 + strspn(b + 1, digits);
    }
    return *a == *b;
}

/* Forms that the table does not show, by their reason, and how much was run to know it. */
static void print_rest(const struct hire *hire, FILE *out)
{
    char line[LINE] = "";
    uint64_t values = 0;
    for (uint32_t i = 0; i < hire->count; i++) {
        uint32_t alike = 0, before = 0;
        values += hire->forms[i].refused[0] == '\0' ? hire->forms[i].most_servers : 0;
        for (uint32_t j = 0; !is_shown(hire, i) && j < hire->count; j++) {
            bool same = !is_shown(hire, j) &&
                        is_same(reason_of(&hire->forms[j]), reason_of(&hire->forms[i]));
            alike += same;
            before += same && j < i;
        }
        if (alike > 0 && before == 0) {
            text_append(line, sizeof line, "%s%u where %s", line[0] != '\0' ? "; " : "", alike,
                        reason_of(&hire->forms[i]));
        }
    }
    if (line[0] != '\0') {
        table_line("other forms (--json lists them): ", line, out);
    }
    fprintf(out, "%u of %" PRIu64 " hires were tried, after %u cheap runs\n", hire->runs, values,
            hire->cheap_runs);
}

bool advise_hire_print(const struct hire *hire, const char *model, FILE *out, struct error *why)
{
    struct hire_verdict verdict;
    if (hire->interrupted && hire->best == HIRE_NONE) {
        return true;
    }
    if (!hire_verdict_make(hire, model, &verdict, why)) {
        return false;
    }
    print_title(hire, model, out);
    for (int part = 0; part < HIRE_PARTS; part++) {
        if (verdict.parts[part][0] != '\0') {
            fprintf(out, "%-*s", INDENT, hire_parts[part]);
            table_wrap(verdict.parts[part], INDENT, out);
            fputc('\n', out);
        }
    }
    fputc('\n', out);
    bool good = print_table(hire, out, why);
    if (good) {
        print_rest(hire, out);
    }
    if (good && hire->interrupted) {
        table_line("note: ", "interrupted: this is the best so far, and others may be cheaper",
                   out);
    }
    return good;
}

/* ---- JSON ---- */

static json_t *real_or_null(double number)
{
    return isnan(number) ? json_null() : json_real(number);
}

static json_t *count_or_null(uint32_t count)
{
    return count > 0 ? json_integer(count) : json_null();
}

static void put(json_t *object, const char *key, json_t *value, bool *good)
{
    *good = json_object_set_new(object, key, value) == 0 && *good;
}

/* The scenario of the run that is shown. */
static bool put_scenario(const struct hire *hire, const struct hire_form *form, json_t *object,
                         struct error *why)
{
    struct scenario scenario;
    uint32_t servers = form->servers > 0 ? form->servers : form->fewer;
    bool good = true;
    if (servers == 0) {
        put(object, "scenario", json_null(), &good);
        return good;
    }
    good = hire_scenario(hire, form, servers, &scenario, why);
    char *text = good ? node_canonical(scenario.root, why) : NULL;
    put(object, "scenario", text != NULL ? json_string(text) : json_null(), &good);
    free(text);
    scenario_release(&scenario);
    return good && text != NULL;
}

static bool print_form(const struct hire *hire, uint32_t index, FILE *out, struct error *why)
{
    const struct hire_form *form = &hire->forms[index];
    const struct result *run = form->servers > 0 ? hire_holds(form) : hire_misses(form);
    double price = form->price > 0 ? form->price : NAN;
    char reason[VERDICT_TEXT] = "";
    json_t *object = json_object();
    bool good = object != NULL;
    if (form->servers == 0) {
        hire_say_why(hire, form, reason);
    }
    put(object, "kind", json_string("hire"), &good);
    put(object, "system", json_string(form->candidate->system), &good);
    put(object, "hardware", json_string(form->candidate->machine), &good);
    put(object, "weights", json_string(form->weights), &good);
    put(object, "gpus", json_integer(form->gpus), &good);
    put(object, "servers", count_or_null(form->servers), &good);
    put(object, "fewer", count_or_null(form->fewer), &good);
    put(object, "price_per_hour", real_or_null(price), &good);
    put(object, "cost_per_hour",
        real_or_null(form->servers > 0 ? price * form->servers * form->gpus : NAN), &good);
    put(object, "cost_per_request", real_or_null(hire_request_cost(hire, form)), &good);
    put(object, "advised", json_boolean(index == hire->best), &good);
    put(object, "why", reason[0] != '\0' ? json_string(reason) : json_null(), &good);
    good = good && put_scenario(hire, form, object, why);
    char *text = good ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(12)) : NULL;
    json_decref(object);
    if (text == NULL) {
        return error_set(why, NULL, 0, "out of memory: no room for a form");
    }
    fprintf(out, "%.*s,\"run\":", (int)strlen(text) - 1, text);
    free(text);
    good = run == NULL || run_print_json_object(run, out, why);
    fputs(run == NULL ? "null}\n" : "}\n", out);
    return good;
}

bool advise_hire_json(const struct hire *hire, const char *model, FILE *out, struct error *why)
{
    struct hire_verdict verdict;
    json_t *parts = json_object(), *object = json_object();
    bool good = parts != NULL && object != NULL && hire_verdict_make(hire, model, &verdict, why);
    for (int part = 0; good && part < HIRE_PARTS; part++) {
        const char *said = verdict.parts[part];
        put(parts, hire_parts[part], said[0] != '\0' ? json_string(said) : json_null(), &good);
    }
    put(object, "verdict", parts, &good);
    char *text = good ? json_dumps(object, JSON_COMPACT) : NULL;
    if (text != NULL) {
        fprintf(out, "%s\n", text);
    } else if (good) {
        good = error_set(why, NULL, 0, "out of memory: no room for a verdict");
    }
    json_decref(object);
    free(text);
    for (uint32_t i = 0; good && i < hire->count; i++) {
        good = print_form(hire, i, out, why);
    }
    return good;
}
