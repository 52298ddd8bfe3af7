#include "cli/runs/runs_table.h"

#include "base/array.h"
#include "base/units.h"
#include "cli/frame/drawn.h"
#include "cli/frame/figures.h"
#include "cli/frame/ranges.h"
#include "cli/frame/table.h"
#include "cli/runs/contest.h"
#include "cli/runs/fastest.h"
#include "cli/runs/runs_notes.h"
#include "cli/runs/runs_served.h"
#include "cli/runs/sweep_keys.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 64, MOST_KEYS = 20 };

/* The columns after system and swept keys. */
enum figure {
    BATCH,
    CACHE,
    HIT,
    MASS,
    PREFILL,
    STEP,
    RATE,
    SPAN,
    BEST,
    E2E,
    COST,
    STALLED,
    STALLS,
    FIGURES
};
static const struct table_column figure_columns[FIGURES] = {
    [BATCH] = {.title = "batch", .right = true},
    [CACHE] = {.title = "cache", .right = true, .drop = 3},
    [HIT] = {.title = "hit %", .right = true},
    [MASS] = {.title = "mass %", .right = true, .drop = 1},
    [PREFILL] = {.title = "prefill s", .right = true, .optional = true},
    [STEP] = {.title = "step ms", .right = true},
    [RATE] = {.title = "tok/s", .right = true},
    [SPAN] = {.title = "5 - 95 %", .right = true, .optional = true},
    [BEST] = {.title = "best", .right = true, .drop = 2},
    [E2E] = {.title = "e2e tok/s", .right = true, .optional = true},
    [COST] = {.title = "$/M tok", .right = true, .optional = true},
    [STALLED] = {.title = "stall", .right = true},
    [STALLS] = {.title = "waiting for (% of step)"},
};

/* Rates are compared within a group: the points that differ only in system, if systems are swept.
 */
struct rate {
    double value; /* tokens a second; 0: the run has none */
    size_t group;
};

struct runs_table {
    const struct scenario *scenario;
    bool serves; /* runs are of a server */
    struct table *table;
    uint32_t keys[MOST_KEYS]; /* children of `sweep` that have a column */
    uint32_t key_count;
    struct rate *rates; /* of each row */
    size_t count, capacity;
    struct runs_notes *notes;
    struct contest *contest;
    struct fastest *fastest;
};

/* ---- the table ---- */

/* A key with several values has a column. A scenario has at most a million points, so fewer than
 * MOST_KEYS keys have several values. */
static bool needs_column(const struct node *list)
{
    return list->count > 1 && strcmp(list->key, "system") != 0 && strcmp(list->key, "batch") != 0;
}

struct runs_table *runs_table_create(const struct scenario *scenario, double precision,
                                     struct error *why)
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
    runs->serves = scenario_serves(scenario);
    uint32_t figures = runs->serves ? (uint32_t)SERVED_FIGURES : (uint32_t)FIGURES;
    memcpy(&columns[1 + runs->key_count], runs->serves ? served_columns : figure_columns,
           figures * sizeof *columns);
    runs->notes = runs_notes_create(why);
    runs->contest = contest_create(precision, why);
    runs->table = table_create(columns, 1 + runs->key_count + figures, why);
    runs->fastest = fastest_create(why);
    if (runs->notes == NULL || runs->contest == NULL || runs->fastest == NULL ||
        runs->table == NULL) {
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
        contest_destroy(runs->contest);
        fastest_destroy(runs->fastest);
        free(runs->rates);
        free(runs);
    }
}

/* ---- a row ---- */

/* The figures of a run with replications are means over them. */
static bool add_drawn(const struct result *result, const char **figures,
                      char room[FIGURES][DRAWN_TEXT], struct error *why)
{
    static const struct {
        enum figure figure;
        enum drawn drawn;
        double scale;
    } means[] = {{PREFILL, DRAWN_PREFILL, 1e3},
                 {STEP, DRAWN_STEP, 1e3},
                 {RATE, DRAWN_DECODE_RATE, 1},
                 {E2E, DRAWN_E2E_RATE, 1},
                 {COST, DRAWN_COST, 1}};
    for (size_t i = 0; i < sizeof means / sizeof means[0]; i++) {
        enum figure figure = means[i].figure;
        const char *text = drawn_mean(result, means[i].drawn, means[i].scale, room[figure]);
        figures[figure] = text != NULL ? text : figures[figure];
    }
    return drawn_span(result, DRAWN_DECODE_RATE, 1, room[SPAN], &figures[SPAN], why);
}

static const struct range_cell ranged[] = {
    {HIT, COLUMN_HIT_RATIO, 100},  {MASS, COLUMN_MASS_RECALL, 100}, {STEP, COLUMN_STEP, 1e-3},
    {RATE, COLUMN_DECODE_RATE, 1}, {E2E, COLUMN_E2E_RATE, 1},       {COST, COLUMN_COST, 1},
};
enum { RANGED = sizeof ranged / sizeof ranged[0] };

/* The cells after batch, for a run that has a time; NULL for a figure that does not apply. */
static bool add_timed(struct runs_table *runs, const char **texts, uint32_t at,
                      const struct result *result, struct error *why)
{
    const struct cell *cells = result->cells;
    char cache[FIGURE], hit[FIGURE], mass[FIGURE], prefill[FIGURE], step[FIGURE], rate[FIGURE];
    char e2e[FIGURE], cost[FIGURE], stalled[FIGURE],
        stalls[FIGURE_STALLS] = "", drawn[FIGURES][DRAWN_TEXT], ranges[RANGED][RANGE_TEXT];
    int64_t step_ns = cells[COLUMN_STEP].integer;
    const char **figures = &texts[at];
    if (cells[COLUMN_CACHE_BYTES].set && cells[COLUMN_CACHE_BYTES].integer > 0) {
        figures[CACHE] = units_format((double)cells[COLUMN_CACHE_BYTES].integer, UNIT_BYTES, cache,
                                      sizeof cache);
    }
    figures[HIT] = figure_percent(&cells[COLUMN_HIT_RATIO], hit);
    figures[MASS] = figure_percent(&cells[COLUMN_MASS_RECALL], mass);
    if (cells[COLUMN_PREFILL].set) {
        figures[PREFILL] = figure_seconds(cells[COLUMN_PREFILL].integer, prefill);
    }
    figures[STEP] = figure_ms(step_ns, step);
    figures[RATE] = figure_rate(&cells[COLUMN_DECODE_RATE], rate);
    figures[E2E] = figure_rate(&cells[COLUMN_E2E_RATE], e2e);
    figures[COST] = figure_dollars(&cells[COLUMN_COST], cost);
    if (step_ns > 0) {
        figures[STALLED] = figure_stalled(result, stalled);
        figure_stalls(result, stalls);
    }
    figures[STALLS] = stalls;
    ranges_put(result, ranged, RANGED, figures, ranges);
    if (result->family_count > 0) {
        table_keep(runs->table, at + MASS); /* what hits cost in quality is as uncertain as hits */
    }
    return add_drawn(result, figures, drawn, why) &&
           table_add(runs->table, texts, at + FIGURES, why);
}

static bool add_served(struct runs_table *runs, const char **texts, uint32_t at,
                       const struct result *result, struct error *why)
{
    char room[SERVED_FIGURES][SERVED_TEXT];
    served_figures(result, &texts[at], room);
    return table_add(runs->table, texts, at + SERVED_FIGURES, why);
}

/* A run without a time has its reason across the columns. */
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

static bool enter_contest(struct runs_table *runs, uint32_t index, const struct result *result,
                          struct error *why)
{
    const struct node *sweep = runs->scenario->sweep;
    char setting[2 * TEXT];
    bool systems = sweep != NULL && node_get(sweep, "system") != NULL;
    sweep_point_setting(sweep, index, setting, sizeof setting);
    const char *title = systems ? setting : "";
    const char *name = systems ? result->cells[COLUMN_SYSTEM].text : setting;
    size_t group = sweep_point_group(sweep, index);
    return contest_add(runs->contest, group, title, name, result, why) &&
           (!systems || fastest_add(runs->fastest, group, title, name, result, why));
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
    double drawn = drawn_value(result, DRAWN_DECODE_RATE);
    runs->rates[runs->count++] = (struct rate){
        .value = !timed || !cells[COLUMN_DECODE_RATE].set ? 0
                 : isnan(drawn)                           ? cells[COLUMN_DECODE_RATE].real
                                                          : drawn,
        .group = sweep_point_group(runs->scenario->sweep, index),
    };
    if (!runs_notes_add(runs->notes, result, why)) {
        return false;
    }
    if (!enter_contest(runs, index, result, why)) {
        return false;
    }
    return result_failed(result) ? add_untimed(runs, texts, at, result, why)
           : runs->serves        ? add_served(runs, texts, at, result, why)
           : timed               ? add_timed(runs, texts, at, result, why)
                                 : add_untimed(runs, texts, at, result, why);
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
    fastest_print(runs->fastest, out);
    contest_print(runs->contest, out);
    return true;
}
