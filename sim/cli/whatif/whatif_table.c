/* A study's tables: a row per point along one axis, or a cell per point of a grid. */
#include "cli/whatif/whatif_report.h"

#include "cli/runs/runs_table.h"

#include <math.h>
#include <string.h>

enum { TEXT = WHATIF_TEXT };

/* ---- along an axis ---- */

enum { VALUE, FIRST_FIGURE };

static const struct frame_column step_columns[] = {
    {.of = "batch", .optional = true, .what = "sequences; shown where they vary along the axis"},
    {.of = "kv", .drop = 1, .optional = true},
    {.of = "resident_share", .optional = true},
    {.of = "cache_bytes"},
    {.of = "hit_ratio", .optional = true},
    {.of = "mass_recall", .optional = true},
    {.of = "step_us"},
    {.of = "decode_tokens_per_s"},
    {.of = "stall"},
    {.of = "by_link", .name = "link"},
};

uint32_t whatif_columns(bool serves, struct frame_column out[TABLE_MOST_COLUMNS])
{
    uint32_t count = sizeof step_columns / sizeof *step_columns;
    const struct frame_column *figures = serves ? runs_columns(true, &count) : step_columns;
    out[VALUE] = (struct frame_column){.title = "", .unit = UNIT_COUNT};
    memcpy(&out[FIRST_FIGURE], figures, count * sizeof *out);
    count -= serves; /* its marks are others, below */
    out[FIRST_FIGURE + count] = (struct frame_column){
        .title = "",
        .name = "marks",
        .what = "here: the scenario's value; best, and what ties with it; knee: furthest from the "
                "line between the first point and the last, beyond it an increase gains less"};
    return FIRST_FIGURE + count + 1;
}

/* Does the batch vary along the axis, without being the axis? */
static bool batch_varies(const struct whatif *whatif)
{
    const struct cell *first = result_cell(&whatif->results[0], COLUMN(batch));
    bool varies = false;
    for (uint32_t i = 0; i < whatif->count; i++) {
        const struct cell *batch = result_cell(&whatif->results[i], COLUMN(batch));
        varies = varies || (batch->set && first->set && batch->integer != first->integer);
    }
    return varies && strcmp(whatif->axes[0].key, "batch") != 0;
}

/* Show what the study is about, and what differs from point to point. An axis of rates states the
 * requested rate, not the drawn one. */
static void adapt(const struct whatif *whatif, struct frame_column *column)
{
    const struct column *of = column->of != NULL ? column_find(column->of) : NULL;
    if (of == COLUMN(batch)) {
        column->extra = !batch_varies(whatif);
    } else if (of == COLUMN(cache_bytes)) {
        column->extra = strcmp(whatif->axes[0].key, "mechanisms.budget") != 0;
    } else if (of == COLUMN(requests_in_per_s)) {
        column->drop = isnan(whatif_arrivals(whatif)) ? 0 : column->drop;
    } else if (of == COLUMN(decode_tokens_per_s)) {
        column->drop = whatif->figure == WHATIF_GOODPUT;
    } else if (of == COLUMN(e2e_ms)) {
        column->extra = whatif->figure != WHATIF_TIME;
    }
}

static void whatif_table_put_point(const struct whatif *whatif,
                                   const struct whatif_findings *findings, uint32_t point,
                                   struct frame *frame)
{
    const struct result *result = &whatif->results[point];
    char value[TEXT], marks[TEXT];
    frame_row(frame);
    frame_text(frame, VALUE, axis_label(&whatif->axes[0], point, value, sizeof value));
    frame_result(frame, result);
    if (result_ok(result)) {
        whatif_mark(whatif, findings, point, marks);
        frame_text(frame, frame_find(frame, "marks"), marks);
    } else {
        frame_failed(frame, FIRST_FIGURE + !whatif_serves(whatif), result);
    }
}

bool whatif_points_table(const struct whatif *whatif, const struct whatif_findings *findings,
                         const struct table_view *view, FILE *out, struct error *why)
{
    struct frame_column columns[TABLE_MOST_COLUMNS];
    uint32_t count = whatif_columns(whatif_serves(whatif), columns);
    columns[VALUE].title = axis_title(&whatif->axes[0]);
    for (uint32_t i = FIRST_FIGURE; i < count; i++) {
        adapt(whatif, &columns[i]);
    }
    struct frame *frame = frame_create_view(columns, count, view, why);
    for (uint32_t i = 0; frame != NULL && i < whatif->count; i++) {
        whatif_table_put_point(whatif, findings, i, frame);
    }
    bool good = frame != NULL && frame_print(frame, view, out, why);
    frame_destroy(frame);
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

static const char *whatif_table_cell_words(const struct whatif *whatif,
                                           const struct whatif_findings *findings, uint32_t point,
                                           char text[TEXT])
{
    const struct result *result = &whatif->results[point];
    double worth = whatif_worth(whatif, point);
    char figure[SHOWN_TEXT];
    if (!result_ok(result)) {
        return result_out_of_memory(result) ? "oom" : "failed";
    }
    if (whatif_objection(whatif, point) != NULL) {
        return "over";
    }
    snprintf(text, TEXT, "%s%s",
             findings->best == point && !findings->flat ? "*"
             : whatif_ties(whatif, findings, point)     ? "="
             : findings->own == point                   ? ">"
                                                        : "",
             isnan(worth) ? "-" : whatif_number(worth, figure));
    return text;
}

static void whatif_table_put_line(const struct whatif *whatif,
                                  const struct whatif_findings *findings, uint32_t line,
                                  struct frame *frame)
{
    char text[TEXT];
    uint32_t across = whatif->axes[1].count;
    frame_row(frame);
    frame_text(frame, VALUE, axis_label(&whatif->axes[0], line, text, TEXT));
    for (uint32_t i = 0; i < across; i++) {
        frame_text(frame, 1 + i,
                   whatif_table_cell_words(whatif, findings, line * across + i, text));
    }
}

bool whatif_grid_table(const struct whatif *whatif, const struct whatif_findings *findings,
                       const struct table_view *view, FILE *out, struct error *why)
{
    const struct axis *across = &whatif->axes[1];
    char titles[TABLE_MOST_COLUMNS][TEXT];
    struct frame_column columns[TABLE_MOST_COLUMNS] = {
        {.title = axis_title(&whatif->axes[0]), .unit = UNIT_COUNT}};
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
        columns[1 + i] = (struct frame_column){.title = titles[i], .unit = UNIT_COUNT};
    }
    fprintf(out,
            "%s; *: best, =: ties, >: the scenario's value, oom: out of memory\n"
            "%s",
            whatif_words[whatif->figure].grid,
            any_objection(whatif) ? "over: more requests arrive than are answered\n" : "");
    struct frame *frame = frame_create(columns, 1 + across->count, why);
    for (uint32_t i = 0; i * across->count < whatif->count; i++) {
        whatif_table_put_line(whatif, findings, i, frame);
    }
    bool good = frame_print(frame, view, out, why);
    frame_destroy(frame);
    return good;
}
