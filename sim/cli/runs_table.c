#include "cli/runs_table.h"

#include "base/array.h"
#include "base/units.h"
#include "cli/sweep_keys.h"
#include "cli/table.h"
#include "hardware/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 64, LONG_TEXT = 256, MOST_KEYS = 8, MOST_SOURCES = 4 };

/* The columns behind system and swept keys. */
enum figure { BATCH, CACHE, HIT, MASS, STEP, RATE, BEST, STALLED, STALLS, FIGURES };
static const struct table_column figure_columns[FIGURES] = {
    [BATCH] = {.title = "batch", .right = true},
    [CACHE] = {.title = "cache", .right = true, .drop = 3},
    [HIT] = {.title = "hit %", .right = true},
    [MASS] = {.title = "mass %", .right = true, .drop = 1},
    [STEP] = {.title = "step ms", .right = true},
    [RATE] = {.title = "tok/s", .right = true},
    [BEST] = {.title = "best", .right = true, .drop = 2},
    [STALLED] = {.title = "stall", .right = true},
    [STALLS] = {.title = "waiting for (% of step)"},
};

/* What stands above the table when all runs share it; the first one goes without what joins it. */
static const struct {
    enum column column;
    const char *join, *before, *behind;
} shared_kinds[] = {
    {COLUMN_MODEL, "", "", ""},
    {COLUMN_HARDWARE, " ", "on ", ""},
    {COLUMN_CONTEXT, ", ", "", " tokens a sequence"},
    {COLUMN_STEPS, "; ", "", " steps"},
    {COLUMN_WARMUP, " ", "after ", " of warm-up"},
};
enum { SHARED = sizeof shared_kinds / sizeof shared_kinds[0] };
struct shared {
    bool varies;
    char text[LONG_TEXT]; /* "" while no run had one */
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
    struct shared shared[SHARED];
    char sources[MOST_SOURCES][LONG_TEXT]; /* what hit ratios rest on */
    uint32_t source_count;
    double least[BASIS_COUNT], most[BASIS_COUNT]; /* shares of a run's time by basis */
    uint32_t timed, extrapolated;
};

/* ---- the table ---- */

static bool has_own_column(const char *key)
{
    return strcmp(key, "system") == 0 || strcmp(key, "batch") == 0;
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
        if (!has_own_column(sweep->children[i]->key) && runs->key_count < MOST_KEYS) {
            runs->keys[runs->key_count++] = i;
            columns[runs->key_count] =
                (struct table_column){.title = sweep_key_title(sweep, i), .right = true};
        }
    }
    memcpy(&columns[1 + runs->key_count], figure_columns, sizeof figure_columns);
    runs->table = table_create(columns, 1 + runs->key_count + FIGURES, why);
    if (runs->table == NULL) {
        runs_table_destroy(runs);
        return NULL;
    }
    return runs;
}

void runs_table_destroy(struct runs_table *runs)
{
    if (runs != NULL) {
        table_destroy(runs->table);
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

static const char *format_rate(double rate, char text[TEXT])
{
    snprintf(text, TEXT, "%.*f", rate < 10 ? 2 : rate < 1000 ? 1 : 0, rate);
    return text;
}

/* The cells behind batch of a run that has a time; NULL where something does not apply. */
static bool add_timed(struct runs_table *runs, const char **texts, uint32_t at,
                      const struct result *result, struct error *why)
{
    const struct cell *cells = result->cells;
    char cache[TEXT], hit[TEXT], mass[TEXT], step[TEXT], rate[TEXT], stalled[TEXT];
    char stalls[LONG_TEXT] = "";
    int64_t step_ns = cells[COLUMN_STEP].integer;
    const char **figures = &texts[at];
    if (cells[COLUMN_CACHE_BYTES].set && cells[COLUMN_CACHE_BYTES].integer > 0) {
        figures[CACHE] = units_format((double)cells[COLUMN_CACHE_BYTES].integer, UNIT_BYTES, cache,
                                      sizeof cache);
    }
    figures[HIT] = percent(&cells[COLUMN_HIT_RATIO], hit);
    figures[MASS] = percent(&cells[COLUMN_MASS_RECALL], mass);
    figures[STEP] = format_step(step_ns, step);
    if (cells[COLUMN_DECODE_RATE].set) {
        figures[RATE] = format_rate(cells[COLUMN_DECODE_RATE].real, rate);
    }
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

static void note_shared(struct runs_table *runs, const struct result *result)
{
    for (int i = 0; i < SHARED; i++) {
        const struct cell *cell = &result->cells[shared_kinds[i].column];
        struct shared *shared = &runs->shared[i];
        char text[LONG_TEXT];
        if (!cell->set) {
            continue;
        }
        if (column_kinds[shared_kinds[i].column].type == COLUMN_TYPE_TEXT) {
            snprintf(text, sizeof text, "%s", cell->text);
        } else {
            snprintf(text, sizeof text, "%" PRId64, cell->integer);
        }
        shared->varies =
            shared->varies || (shared->text[0] != '\0' && strcmp(shared->text, text) != 0);
        memcpy(shared->text, text, sizeof text);
    }
}

static void note_source(struct runs_table *runs, const struct cell *source)
{
    if (!source->set || runs->source_count == MOST_SOURCES) {
        return;
    }
    for (uint32_t i = 0; i < runs->source_count; i++) {
        if (strncmp(runs->sources[i], source->text, LONG_TEXT - 1) == 0) {
            return;
        }
    }
    snprintf(runs->sources[runs->source_count++], LONG_TEXT, "%s", source->text);
}

static void note_trust(struct runs_table *runs, const struct result *result)
{
    const struct cell *extrapolated = &result->cells[COLUMN_EXTRAPOLATED];
    for (uint32_t i = 0; i < result->basis_count && i < BASIS_COUNT; i++) {
        double share = result->basis[i].share;
        runs->least[i] = runs->timed == 0 ? share : fmin(runs->least[i], share);
        runs->most[i] = fmax(runs->most[i], share);
    }
    runs->timed++;
    runs->extrapolated += extrapolated->set && extrapolated->integer != 0;
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
    note_shared(runs, result);
    note_source(runs, &cells[COLUMN_TRACE_SOURCE]);
    if (timed) {
        note_trust(runs, result);
    }
    return timed ? add_timed(runs, texts, at, result, why)
                 : add_untimed(runs, texts, at, result, why);
}

/* ---- printing ---- */

static void print_sources(const struct runs_table *runs, FILE *out)
{
    if (runs->source_count == 0) {
        fputs("hit ratio: none, for nothing is offloaded\n", out);
    }
    for (uint32_t i = 0; i < runs->source_count; i++) {
        fprintf(out, "%s%s\n", i == 0 ? "hit ratio: " : "           ", runs->sources[i]);
    }
    if (runs->source_count == MOST_SOURCES) {
        fputs("           ...\n", out);
    }
}

static void print_shared(const struct runs_table *runs, FILE *out)
{
    bool first = true;
    for (int i = 0; i < SHARED; i++) {
        const struct shared *shared = &runs->shared[i];
        if (!shared->varies && shared->text[0] != '\0') {
            fprintf(out, "%s%s%s%s", first ? "" : shared_kinds[i].join, shared_kinds[i].before,
                    shared->text, shared_kinds[i].behind);
            first = false;
        }
    }
    fputs("\n\n", out);
}

/* "time rests on: published 0-57 %, datasheet 1-100 %, assumed 0-43 %; extrapolated: 5 of 8" */
static void print_trust(const struct runs_table *runs, FILE *out)
{
    const char *between = "";
    if (runs->timed == 0) {
        return;
    }
    fputs("\ntime rests on figures: ", out);
    for (int i = 0; i < BASIS_COUNT; i++) {
        long least = lround(100 * runs->least[i]), most = lround(100 * runs->most[i]);
        if (most > 0) {
            fprintf(out, "%s%s ", between, basis_name((enum basis)i));
            if (least < most) {
                fprintf(out, "%ld-", least);
            }
            fprintf(out, "%ld %%", most);
            between = ", ";
        }
    }
    fprintf(out, "; extrapolated: %u of %u\n", runs->extrapolated, runs->timed);
}

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
    print_sources(runs, out);
    print_shared(runs, out);
    table_print(runs->table, out);
    print_trust(runs, out);
    return true;
}
