#include "cli/runs/runs_table.h"

#include "base/array.h"
#include "base/text.h"
#include "cli/frame/drawn.h"
#include "cli/runs/fastest.h"
#include "cli/runs/layout.h"
#include "cli/runs/runs_columns.h"
#include "cli/runs/runs_notes.h"
#include "cli/runs/sweep_keys.h"
#include "study/sweep/replication.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 64, MOST_KEYS = 20, NO_LAYOUT = MOST_KEYS };

/* Rates are compared within a group: the points that differ only in system, if systems are swept.
 * Nobody is shown its number. */
enum { GROUP, SYSTEM, FIRST_KEY };

struct runs_table {
    const struct scenario *scenario;
    bool serves; /* runs are of a server */
    struct table_view view;
    struct frame *frame;
    uint32_t keys[MOST_KEYS]; /* children of `sweep` that have a column */
    uint32_t key_count;
    uint32_t layout; /* the key whose column names the whole layout; NO_LAYOUT: none is swept */
    struct runs_notes *notes;
    struct draws {
        double precision;         /* that is wanted; 0: none */
        uint32_t least, most;     /* of a run */
        uint32_t missed;          /* runs that did not reach the precision */
        char example[DRAWN_TEXT]; /* what the first of them reached */
        bool serves, ranged;      /* servers; runs of several families of recordings */
    } draws;
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
                     struct frame_column columns[MOST_KEYS])
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
        columns[runs->key_count] =
            (struct frame_column){.title = layout ? "layout" : sweep_key_title(sweep, i),
                                  .unit = layout ? ANSWER_TEXT : ANSWER_REAL};
        runs->keys[runs->key_count++] = i;
    }
}

struct runs_table *runs_table_create(const struct scenario *scenario, double precision,
                                     const struct table_view *view, struct error *why)
{
    struct frame_column columns[TABLE_MOST_COLUMNS + MOST_KEYS] = {
        [GROUP] = {.unit = ANSWER_INTEGER}, [SYSTEM] = {.title = "system"}};
    struct runs_table *runs = array_zeroed(1, sizeof *runs, why);
    if (runs == NULL) {
        return NULL;
    }
    runs->scenario = scenario;
    runs->serves = scenario_serves(scenario);
    runs->view = *view;
    add_keys(runs, scenario->sweep, &columns[FIRST_KEY]);
    uint32_t count;
    const struct frame_column *figures = runs_columns(runs->serves, &count);
    memcpy(&columns[FIRST_KEY + runs->key_count], figures, count * sizeof *columns);
    runs->notes = runs_notes_create(why);
    runs->draws.precision = precision;
    runs->frame = frame_create(columns, FIRST_KEY + runs->key_count + count, why);
    runs->fastest = fastest_create(why);
    if (!frame_view_check(view, figures, count, why) || runs->notes == NULL ||
        runs->fastest == NULL || runs->frame == NULL) {
        runs_table_destroy(runs);
        return NULL;
    }
    return runs;
}

void runs_table_destroy(struct runs_table *runs)
{
    if (runs != NULL) {
        frame_destroy(runs->frame);
        runs_notes_destroy(runs->notes);
        fastest_destroy(runs->fastest);
        free(runs);
    }
}

/* ---- a row ---- */

static bool add_rate(struct runs_table *runs, uint32_t index, const struct result *result,
                     struct error *why)
{
    const struct node *sweep = runs->scenario->sweep;
    char setting[2 * TEXT];
    bool systems = sweep != NULL && node_get(sweep, "system") != NULL;
    sweep_point_setting(sweep, index, setting, sizeof setting);
    return !systems || fastest_add(runs->fastest, sweep_point_group(sweep, index), setting,
                                   result->cells[COLUMN_SYSTEM].text, result, why);
}

static void add_draws(struct draws *draws, const struct result *result)
{
    char text[DRAWN_TEXT];
    uint32_t count = result->draws.count;
    if (count < REPLICATIONS_LEAST) {
        return;
    }
    draws->least = draws->most == 0 || count < draws->least ? count : draws->least;
    draws->most = count > draws->most ? count : draws->most;
    draws->ranged = draws->ranged || result->family_count > 0;
    draws->serves = replication_main(result) == DRAWN_TTFT;
    if (drawn_missed(result, draws->precision, text) != NULL && draws->missed++ == 0) {
        text_copy(draws->example, DRAWN_TEXT, text);
    }
}

/* What names the run. */
static void put_keys(struct runs_table *runs, uint32_t index, const struct result *result)
{
    frame_row(runs->frame);
    frame_number(runs->frame, GROUP, (double)sweep_point_group(runs->scenario->sweep, index));
    frame_text(runs->frame, SYSTEM, result->cells[COLUMN_SYSTEM].text);
    for (uint32_t i = 0; i < runs->key_count; i++) {
        char value[TEXT];
        if (i == runs->layout) {
            layout_name(runs->scenario, index, value, TEXT);
        } else {
            sweep_point_value(runs->scenario->sweep, runs->keys[i], index, value, TEXT);
        }
        frame_text(runs->frame, FIRST_KEY + i, value);
    }
}

/* A run without figures has its reason in their place. */
static bool put_figures(struct runs_table *runs, const struct result *result, struct error *why)
{
    bool timed = result->cells[COLUMN_STEP].set;
    if (result_failed(result) || (!runs->serves && !timed)) {
        uint32_t batch = FIRST_KEY + runs->key_count;
        frame_result(runs->frame, result);
        frame_failed(runs->frame, batch + 1, result);
    } else if (runs->serves) {
        runs_fill_served(runs->frame, result);
    } else {
        return runs_fill(runs->frame, result, why);
    }
    return true;
}

bool runs_table_add(struct runs_table *runs, uint32_t index, const struct result *result,
                    struct error *why)
{
    put_keys(runs, index, result);
    runs_notes_add(runs->notes, result);
    add_draws(&runs->draws, result);
    return put_figures(runs, result, why) && frame_ok(runs->frame, why) &&
           add_rate(runs, index, result, why);
}

/* ---- printing ---- */

static bool set_best(struct runs_table *runs, struct error *why)
{
    struct frame *frame = runs->frame;
    uint32_t rate = frame_find(frame, "rate"), best = frame_find(frame, "best");
    double *most = array_zeroed(runs->scenario->points, sizeof *most, why);
    for (uint32_t i = 0; most != NULL && i < frame->row_count; i++) {
        size_t group = (size_t)frame_value(frame, i, GROUP);
        most[group] = fmax(most[group], frame_value(frame, i, rate));
    }
    for (uint32_t i = 0; most != NULL && i < frame->row_count; i++) {
        size_t group = (size_t)frame_value(frame, i, GROUP);
        frame_row_again(frame, i);
        frame_number(frame, best, frame_value(frame, i, rate) / most[group]);
    }
    free(most);
    return most != NULL;
}

static void print_draws(const struct draws *draws, FILE *out)
{
    char text[512];
    if (draws->most == 0) {
        return;
    }
    snprintf(text, sizeof text,
             "%" PRIu32 "%s draws of the machine's figures within their ranges; %s. ± is the 95 %% "
             "interval of the mean%s; other columns use the machine's profile as it is",
             draws->least, draws->least < draws->most ? " or more" : "",
             draws->ranged ? "each takes the recording of one family" : "recordings stay the same",
             draws->serves ? "" : ", 5 - 95 % the range of nine in ten draws");
    fputc('\n', out);
    table_line("replications: ", text, out);
    if (draws->missed > 0) {
        snprintf(text, sizeof text, draws->missed > 1 ? "%s; %" PRIu32 " more runs miss it" : "%s",
                 draws->example, draws->missed - 1);
        table_line("precision: ", text, out);
    }
}

bool runs_table_print(struct runs_table *runs, FILE *out, struct error *why)
{
    if (runs->frame->row_count == 0) {
        return true;
    }
    if (!runs->serves && !set_best(runs, why)) {
        return false;
    }
    runs_notes_print_above(runs->notes, runs->scenario->root, out);
    if (!frame_print(runs->frame, &runs->view, out, why)) {
        return false;
    }
    runs_notes_print_below(runs->notes, runs->view.why, out);
    fastest_print(runs->fastest, out);
    print_draws(&runs->draws, out);
    return true;
}
