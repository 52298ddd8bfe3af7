/* A study's tables: a row per point along one axis, or a cell per point of a grid. */
#include "cli/whatif/whatif_report.h"

#include "cli/frame/figure_columns.h"
#include "cli/frame/figures.h"
#include "cli/frame/ranges.h"
#include "cli/runs/runs_served.h"
#include "cli/whatif/whatif_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TEXT = WHATIF_TEXT };

/* ---- along an axis ---- */

enum { VALUE, BATCH, KV, CACHE, HIT, MASS, STEP, RATE, STALLED, LINK, MARKS, COLUMNS };

/* Does the batch vary along the axis, without being the axis? */
static bool batch_varies(const struct whatif *whatif)
{
    const struct cell *first = &whatif->results[0].cells[COLUMN_BATCH];
    bool varies = false;
    for (uint32_t i = 0; i < whatif->count; i++) {
        const struct cell *batch = &whatif->results[i].cells[COLUMN_BATCH];
        varies = varies || (batch->set && first->set && batch->integer != first->integer);
    }
    return varies && strcmp(whatif->axes[0].key, "batch") != 0;
}

static const struct range_cell ranged[] = {
    {HIT, COLUMN_HIT_RATIO, 100},
    {MASS, COLUMN_MASS_RECALL, 100},
    {STEP, COLUMN_STEP, 1e-3},
    {RATE, COLUMN_DECODE_RATE, 1},
};
enum { RANGED = sizeof ranged / sizeof ranged[0] };

static bool add_point(const struct whatif *whatif, const struct whatif_findings *findings,
                      uint32_t point, struct table *table, struct error *why)
{
    const struct result *result = &whatif->results[point];
    const struct cell *cells = result->cells;
    const char *texts[COLUMNS] = {NULL};
    char value[TEXT], batch[TEXT], kv[FIGURE], cache[FIGURE], hit[FIGURE], mass[FIGURE];
    char step[FIGURE], rate[FIGURE], stalled[FIGURE], link[FIGURE], marks[TEXT];
    char ranges[RANGED][RANGE_TEXT];
    texts[VALUE] = axis_label(&whatif->axes[0], point, value, sizeof value);
    if (cells[COLUMN_BATCH].set && batch_varies(whatif)) {
        snprintf(batch, sizeof batch, "%" PRId64, cells[COLUMN_BATCH].integer);
        texts[BATCH] = batch;
    }
    if (!result_ok(result)) {
        return whatif_add_untimed(table, texts, KV, result, why);
    }
    snprintf(link, sizeof link, "%.1f %%", 100 * whatif_link_stall(result));
    texts[KV] = figure_kv(result, kv);
    texts[CACHE] = figure_bytes(&cells[COLUMN_CACHE_BYTES], cache);
    texts[HIT] = figure_percent(&cells[COLUMN_HIT_RATIO], hit);
    texts[MASS] = figure_percent(&cells[COLUMN_MASS_RECALL], mass);
    texts[STEP] = figure_ms(cells[COLUMN_STEP].integer, step);
    texts[RATE] = figure_rate(&cells[COLUMN_DECODE_RATE], rate);
    texts[STALLED] = figure_stalled(result, stalled);
    texts[LINK] = link;
    texts[MARKS] = whatif_mark(whatif, findings, point, marks);
    ranges_put(result, ranged, RANGED, texts, ranges);
    return table_add(table, texts, COLUMNS, why);
}

static const struct table_column point_columns[COLUMNS] = {
    [VALUE] = {.right = true}, /* the axis is its title */
    [BATCH] = {.title = "batch",
               .right = true,
               .optional = true,
               .name = "batch",
               .what = "sequences, where they vary along the axis"},
    [KV] = {KV_COLUMN, .optional = true},
    [CACHE] = {CACHE_COLUMN, .extra = true},
    [HIT] = {HIT_COLUMN, .optional = true},
    [MASS] = {MASS_COLUMN, .optional = true},
    [STEP] = {STEP_COLUMN},
    [RATE] = {RATE_COLUMN},
    [STALLED] = {STALLED_COLUMN},
    [LINK] = {.title = "by link",
              .right = true,
              .name = "link",
              .what = "the part of it that it waits for the link"},
    [MARKS] = {.title = "",
               .name = "marks",
               .what = "here: the scenario's value; best, and what ties with it; knee"},
};

const struct table_column *whatif_columns(bool serves, uint32_t *count)
{
    *count = serves ? (uint32_t)SERVED_FIGURES : (uint32_t)COLUMNS;
    return serves ? served_columns : point_columns;
}

bool whatif_points_table(const struct whatif *whatif, const struct whatif_findings *findings,
                         const struct table_view *view, FILE *out, struct error *why)
{
    struct table_column columns[COLUMNS];
    memcpy(columns, point_columns, sizeof columns);
    columns[VALUE].title = axis_title(&whatif->axes[0]);
    columns[CACHE].extra = strcmp(whatif->axes[0].key, "mechanisms.budget") != 0;
    struct table *table = table_create(columns, COLUMNS, why);
    bool good = table != NULL;
    if (good) {
        table_choose(table, view);
    }
    for (uint32_t i = 0; good && i < whatif->count; i++) {
        good = add_point(whatif, findings, i, table, why);
    }
    if (good) {
        table_print(table, out);
    }
    table_destroy(table);
    return good;
}

/* ---- a grid ---- */

static bool any_objection(const struct whatif *whatif)
{
    bool any = false;
    for (uint32_t i = 0; i < whatif->count; i++) {
        any = any || whatif_objection(whatif, i) != NULL;
    }
    return any;
}

static const char *describe_cell(const struct whatif *whatif,
                                 const struct whatif_findings *findings, uint32_t point,
                                 char text[TEXT])
{
    const struct result *result = &whatif->results[point];
    double worth = whatif_worth(whatif, point);
    char figure[FIGURE];
    if (!result_ok(result)) {
        return result_out_of_memory(result) ? "oom" : "failed";
    }
    if (whatif_objection(whatif, point) != NULL) {
        return "over";
    }
    snprintf(text, TEXT, "%s%s",
             findings->best == point && !findings->flat ? "*"
             : findings->own == point                   ? ">"
                                                        : "",
             isnan(worth) ? "-" : whatif_number(worth, figure));
    return text;
}

static bool add_line(const struct whatif *whatif, const struct whatif_findings *findings,
                     uint32_t line, struct table *table, struct error *why)
{
    char texts[TABLE_MOST_COLUMNS][TEXT];
    const char *cells[TABLE_MOST_COLUMNS] = {axis_label(&whatif->axes[0], line, texts[0], TEXT)};
    uint32_t across = whatif->axes[1].count;
    for (uint32_t i = 0; i < across; i++) {
        cells[1 + i] = describe_cell(whatif, findings, line * across + i, texts[1 + i]);
    }
    return table_add(table, cells, 1 + across, why);
}

bool whatif_grid_table(const struct whatif *whatif, const struct whatif_findings *findings,
                       const struct table_view *view, FILE *out, struct error *why)
{
    const struct axis *across = &whatif->axes[1];
    char titles[TABLE_MOST_COLUMNS][TEXT];
    struct table_column columns[TABLE_MOST_COLUMNS] = {
        {.title = axis_title(&whatif->axes[0]), .right = true}};
    if (across->count >= TABLE_MOST_COLUMNS) {
        error_set(why, NULL, 0, "'%s' has %u values, too many for the columns of a table",
                  across->key, across->count);
        return error_expect(why, "at most %d, or --json", TABLE_MOST_COLUMNS - 1);
    }
    for (uint32_t i = 0; i < across->count; i++) {
        char label[TEXT / 2];
        axis_label(across, i, label, sizeof label);
        snprintf(titles[i], TEXT, "%s%s%s", i == 0 ? axis_title(across) : "", i == 0 ? " " : "",
                 label);
        columns[1 + i] = (struct table_column){.title = titles[i], .right = true};
    }
    struct table *table = table_create(columns, 1 + across->count, why);
    bool good = table != NULL;
    if (good) {
        table_choose(table, view);
    }
    for (uint32_t i = 0; good && i * across->count < whatif->count; i++) {
        good = add_line(whatif, findings, i, table, why);
    }
    if (good) {
        fprintf(out,
                "%s; *: best, >: the scenario's value, oom: out of memory\n"
                "%s",
                whatif_words[whatif->figure].grid,
                any_objection(whatif) ? "over: more requests arrive than are answered\n" : "");
        table_print(table, out);
    }
    table_destroy(table);
    return good;
}
