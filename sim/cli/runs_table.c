#include "cli/runs_table.h"

#include "base/array.h"
#include "base/units.h"
#include "cli/runs_notes.h"
#include "cli/sweep_keys.h"
#include "cli/table.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 64, LONG_TEXT = 256, MOST_KEYS = 20 };

/* The columns behind system and swept keys. */
enum figure { BATCH, CACHE, HIT, MASS, PREFILL, STEP, RATE, BEST, E2E, STALLED, STALLS, FIGURES };
static const struct table_column figure_columns[FIGURES] = {
    [BATCH] = {.title = "batch", .right = true},
    [CACHE] = {.title = "cache", .right = true, .drop = 3},
    [HIT] = {.title = "hit %", .right = true},
    [MASS] = {.title = "mass %", .right = true, .drop = 1},
    [PREFILL] = {.title = "prefill s", .right = true, .optional = true},
    [STEP] = {.title = "step ms", .right = true},
    [RATE] = {.title = "tok/s", .right = true},
    [BEST] = {.title = "best", .right = true, .drop = 2},
    [E2E] = {.title = "e2e tok/s", .right = true, .optional = true},
    [STALLED] = {.title = "stall", .right = true},
    [STALLS] = {.title = "waiting for (% of step)"},
};

/* Rates compare within a group: the points that differ in system only, when systems are swept. */
struct rate {
    double value; /* tokens a second; 0: the run has none */
    size_t group;
};

struct runs_table {
    const struct scenario *scenario;
    struct table *table;
    uint32_t keys[MOST_KEYS]; /* children of `sweep` that have a column */
    uint32_t key_count;
    struct rate *rates; /* of each row */
    size_t count, capacity;
    struct runs_notes *notes;
};

/* ---- the table ---- */

/* A key with several values tells rows apart. A scenario has no more than a million points, and so
 * fewer than MOST_KEYS of these. */
static bool needs_column(const struct node *list)
{
    return list->count > 1 && strcmp(list->key, "system") != 0 && strcmp(list->key, "batch") != 0;
}

struct runs_table *runs_table_create(const struct scenario *scenario, struct error *why)
{
    struct table_column columns[1 + MOST_KEYS + FIGURES] = {{.title = "system"}};
    struct runs_table *runs = array_zeroed(1, sizeof *runs, why);
    if (runs == NULL) {
        return NULL;
    }
    runs->scenario = scenario;
    const struct node *sweep = scenario->sweep;
    for (uint32_t i = 0; sweep != NULL && i < sweep->count; i++) {
        if (needs_column(sweep->children[i])) {
            assert(runs->key_count < MOST_KEYS);
            runs->keys[runs->key_count++] = i;
            columns[runs->key_count] =
                (struct table_column){.title = sweep_key_title(sweep, i), .right = true};
        }
    }
    memcpy(&columns[1 + runs->key_count], figure_columns, sizeof figure_columns);
    runs->notes = runs_notes_create(why);
    runs->table = table_create(columns, 1 + runs->key_count + FIGURES, why);
    if (runs->notes == NULL || runs->table == NULL) {
        runs_table_destroy(runs);
        return NULL;
    }
    return runs;
}

void runs_table_destroy(struct runs_table *runs)
{
    if (runs != NULL) {
        table_destroy(runs->table);
        runs_notes_destroy(runs->notes);
        free(runs->rates);
        free(runs);
    }
}

/* ---- a row ---- */

/* "0.0 %" ... as a share; "" leaves the column's dash to the caller. */
static const char *percent(const struct cell *cell, char text[TEXT])
{
    if (!cell->set) {
        return NULL;
    }
    snprintf(text, TEXT, "%.1f", 100 * cell->real);
    return text;
}

static int by_time(const void *a, const void *b)
{
    const struct result_item *x = a, *y = b;
    return (x->ns < y->ns) - (x->ns > y->ns);
}

static int64_t stalled_ns(const struct result *result)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < result->stall_count; i++) {
        sum += result->stalls[i].ns;
    }
    return sum;
}

/* "manager 18, sync 2": percent of the step by cause, largest first, without what rounds to 0. */
static void describe_stalls(const struct result *result, int64_t step_ns, char text[LONG_TEXT])
{
    struct result_item items[RESULT_MOST_ITEMS];
    size_t used = 0;
    memcpy(items, result->stalls, sizeof items);
    qsort(items, result->stall_count, sizeof items[0], by_time);
    text[0] = '\0';
    for (uint32_t i = 0; i < result->stall_count && used < LONG_TEXT; i++) {
        double percent = 100 * (double)items[i].ns / (double)step_ns;
        if (percent >= 0.5) {
            used += (size_t)snprintf(text + used, LONG_TEXT - used, "%s%s %.0f",
                                     used > 0 ? ", " : "", items[i].name, percent);
        }
    }
}

static const char *format_step(int64_t ns, char text[TEXT])
{
    double ms = (double)ns / 1e6;
    snprintf(text, TEXT, "%.*f", ms < 1 ? 4 : ms < 100 ? 2 : 1, ms);
    return text;
}

static const char *format_seconds(int64_t ns, char text[TEXT])
{
    double s = (double)ns / 1e9;
    snprintf(text, TEXT, "%.*f", s < 1 ? 4 : s < 100 ? 2 : 1, s);
    return text;
}

static const char *format_rate(const struct cell *rate, char text[TEXT])
{
    if (!rate->set) {
        return NULL;
    }
    snprintf(text, TEXT, "%.*f", rate->real < 10 ? 2 : rate->real < 1000 ? 1 : 0, rate->real);
    return text;
}

/* The cells behind batch of a run that has a time; NULL where something does not apply. */
static bool add_timed(struct runs_table *runs, const char **texts, uint32_t at,
                      const struct result *result, struct error *why)
{
    const struct cell *cells = result->cells;
    char cache[TEXT], hit[TEXT], mass[TEXT], prefill[TEXT], step[TEXT], rate[TEXT], e2e[TEXT];
    char stalled[TEXT];
    char stalls[LONG_TEXT] = "";
    int64_t step_ns = cells[COLUMN_STEP].integer;
    const char **figures = &texts[at];
    if (cells[COLUMN_CACHE_BYTES].set && cells[COLUMN_CACHE_BYTES].integer > 0) {
        figures[CACHE] = units_format((double)cells[COLUMN_CACHE_BYTES].integer, UNIT_BYTES, cache,
                                      sizeof cache);
    }
    figures[HIT] = percent(&cells[COLUMN_HIT_RATIO], hit);
    figures[MASS] = percent(&cells[COLUMN_MASS_RECALL], mass);
    if (cells[COLUMN_PREFILL].set) {
        figures[PREFILL] = format_seconds(cells[COLUMN_PREFILL].integer, prefill);
    }
    figures[STEP] = format_step(step_ns, step);
    figures[RATE] = format_rate(&cells[COLUMN_DECODE_RATE], rate);
    figures[E2E] = format_rate(&cells[COLUMN_E2E_RATE], e2e);
    if (step_ns > 0) {
        snprintf(stalled, sizeof stalled, "%.0f %%",
                 100 * (double)stalled_ns(result) / (double)step_ns);
        figures[STALLED] = stalled;
        describe_stalls(result, step_ns, stalls);
    }
    figures[STALLS] = stalls;
    return table_add(runs->table, texts, at + FIGURES, why);
}

/* A run without a time says why across the columns. */
static bool add_untimed(struct runs_table *runs, const char **texts, uint32_t at,
                        const struct result *result, struct error *why)
{
    char reason[sizeof result->message + TEXT];
    const struct cell *status = &result->cells[COLUMN_STATUS];
    snprintf(reason, sizeof reason, "%s%s%s", status->set ? status->text : "failed",
             result->message[0] != '\0' ? ": " : "", result->message);
    texts[at + BATCH + 1] = reason;
    return table_add(runs->table, texts, at + BATCH + 2, why);
}

bool runs_table_add(struct runs_table *runs, uint32_t index, const struct result *result,
                    struct error *why)
{
    const struct cell *cells = result->cells;
    const char *texts[1 + MOST_KEYS + FIGURES] = {cells[COLUMN_SYSTEM].text};
    char values[MOST_KEYS][TEXT], batch[TEXT];
    for (uint32_t i = 0; i < runs->key_count; i++) {
        sweep_point_value(runs->scenario->sweep, runs->keys[i], index, values[i], TEXT);
        texts[1 + i] = values[i];
    }
    uint32_t at = 1 + runs->key_count;
    if (cells[COLUMN_BATCH].set) {
        snprintf(batch, sizeof batch, "%" PRId64, cells[COLUMN_BATCH].integer);
        texts[at + BATCH] = batch;
    }
    if (!array_reserve(&runs->rates, &runs->capacity, runs->count + 1, sizeof *runs->rates, why)) {
        return false;
    }
    bool timed = cells[COLUMN_STEP].set;
    runs->rates[runs->count++] = (struct rate){
        .value = timed && cells[COLUMN_DECODE_RATE].set ? cells[COLUMN_DECODE_RATE].real : 0,
        .group = sweep_point_group(runs->scenario->sweep, index),
    };
    return runs_notes_add(runs->notes, result, why) &&
           (timed ? add_timed(runs, texts, at, result, why)
                  : add_untimed(runs, texts, at, result, why));
}

/* ---- printing ---- */

static bool set_best(struct runs_table *runs, struct error *why)
{
    double *best = array_zeroed(runs->scenario->points, sizeof *best, why);
    bool ok = best != NULL;
    for (size_t i = 0; ok && i < runs->count; i++) {
        best[runs->rates[i].group] = fmax(best[runs->rates[i].group], runs->rates[i].value);
    }
    for (size_t i = 0; ok && i < runs->count; i++) {
        const struct rate *rate = &runs->rates[i];
        char text[TEXT];
        if (rate->value > 0) {
            snprintf(text, sizeof text, "%.0f %%", 100 * rate->value / best[rate->group]);
            ok = table_set(runs->table, (uint32_t)i, 1 + runs->key_count + BEST, text, why);
        }
    }
    free(best);
    return ok;
}

bool runs_table_print(struct runs_table *runs, FILE *out, struct error *why)
{
    if (runs->count == 0) {
        return true;
    }
    if (!set_best(runs, why)) {
        return false;
    }
    runs_notes_print_above(runs->notes, out);
    table_print(runs->table, out);
    runs_notes_print_below(runs->notes, out);
    return true;
}
