#include "cli/runs/runs_table.h"

#include "base/array.h"
#include "cli/frame/drawn.h"
#include "answer/table.h"
#include "cli/runs/contest.h"
#include "cli/runs/fastest.h"
#include "cli/runs/layout.h"
#include "cli/runs/runs_figures.h"
#include "cli/runs/runs_notes.h"
#include "cli/runs/runs_served.h"
#include "cli/runs/sweep_keys.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 64, MOST_KEYS = 20, NO_LAYOUT = MOST_KEYS };

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
    uint32_t layout;    /* the key whose column names the whole layout; NO_LAYOUT: none is swept */
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

/* Give the swept keys a column each; keys of the layout share one. */
static void add_keys(struct runs_table *runs, const struct node *sweep,
                     struct table_column columns[MOST_KEYS])
{
    runs->layout = NO_LAYOUT;
    for (uint32_t i = 0; sweep != NULL && i < sweep->count; i++) {
        const struct node *list = sweep->children[i];
        bool layout = layout_has_key(list->key);
        if (!needs_column(list) || (layout && runs->layout != NO_LAYOUT)) {
            continue;
        }
        assert(runs->key_count < MOST_KEYS);
        runs->layout = layout ? runs->key_count : runs->layout;
        columns[runs->key_count] = (struct table_column){
            .title = layout ? "layout" : sweep_key_title(sweep, i), .right = !layout};
        runs->keys[runs->key_count++] = i;
    }
}

const struct table_column *runs_table_columns(bool serves, uint32_t *count)
{
    *count = serves ? (uint32_t)SERVED_FIGURES : (uint32_t)RUN_FIGURES;
    return serves ? served_columns : run_columns;
}

struct runs_table *runs_table_create(const struct scenario *scenario, double precision,
                                     const struct table_view *view, struct error *why)
{
    struct table_column columns[1 + MOST_KEYS + RUN_FIGURES] = {{.title = "system"}};
    struct runs_table *runs = array_zeroed(1, sizeof *runs, why);
    if (runs == NULL) {
        return NULL;
    }
    runs->scenario = scenario;
    runs->serves = scenario_serves(scenario);
    add_keys(runs, scenario->sweep, &columns[1]);
    uint32_t count;
    const struct table_column *figures = runs_table_columns(runs->serves, &count);
    memcpy(&columns[1 + runs->key_count], figures, count * sizeof *columns);
    runs->notes = runs_notes_create(why);
    runs->contest = contest_create(precision, why);
    runs->table = table_create(columns, 1 + runs->key_count + count, why);
    runs->fastest = fastest_create(why);
    if (!table_view_check(view, figures, count, why) || runs->notes == NULL ||
        runs->contest == NULL || runs->fastest == NULL || runs->table == NULL) {
        runs_table_destroy(runs);
        return NULL;
    }
    table_choose(runs->table, view);
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

/* The cells after the keys, for a run that has a time. What hits cost in quality is as uncertain as
 * hits, so that mass stays in the table with ranges. */
static bool add_timed(struct runs_table *runs, const char **texts, uint32_t at,
                      const struct result *result, struct error *why)
{
    char room[RUN_FIGURES][RUN_TEXT];
    if (result->family_count > 0) {
        table_keep(runs->table, at + RUN_MASS);
    }
    return run_figures(result, &texts[at], room, why) &&
           table_add(runs->table, texts, at + RUN_FIGURES, why);
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
    texts[at + RUN_BATCH + 1] = reason;
    return table_add(runs->table, texts, at + RUN_BATCH + 2, why);
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
    const char *texts[1 + MOST_KEYS + RUN_FIGURES] = {cells[COLUMN_SYSTEM].text};
    char values[MOST_KEYS][TEXT], batch[TEXT];
    for (uint32_t i = 0; i < runs->key_count; i++) {
        if (i == runs->layout) {
            layout_name(runs->scenario, index, values[i], TEXT);
        } else {
            sweep_point_value(runs->scenario->sweep, runs->keys[i], index, values[i], TEXT);
        }
        texts[1 + i] = values[i];
    }
    uint32_t at = 1 + runs->key_count;
    if (cells[COLUMN_BATCH].set) {
        snprintf(batch, sizeof batch, "%" PRId64, cells[COLUMN_BATCH].integer);
        texts[at + RUN_BATCH] = batch;
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
            ok = table_set(runs->table, (uint32_t)i, 1 + runs->key_count + RUN_BEST, text, why);
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
    runs_notes_print_above(runs->notes, runs->scenario->root, out);
    table_print(runs->table, out);
    runs_notes_print_below(runs->notes, out);
    fastest_print(runs->fastest, out);
    contest_print(runs->contest, out);
    return true;
}
