#include "tables/frame.h"

#include "core/array.h"
#include "core/text.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *or_else(const char *text, const char *other)
{
    return text != NULL ? text : other;
}

/* The column with what that of results gives. */
static struct frame_column whole_column(const struct frame_column *column)
{
    struct frame_column whole = *column;
    const struct column *of = column->of != NULL ? column_find(column->of) : NULL;
    assert(column->of == NULL || of != NULL);
    if (of != NULL) {
        whole.column = of;
        whole.title = or_else(column->title, of->title);
        whole.name = or_else(column->name, or_else(of->label, of->name));
        whole.what = or_else(column->what, of->what);
        whole.unit = column->unit != UNIT_TEXT ? column->unit : column_shown(of);
    }
    return whole;
}

/* The place of the column of this name; `column_count` if there is none. */
static uint32_t place_of(const struct frame *frame, const char *name)
{
    uint32_t i = 0;
    while (i < frame->column_count &&
           (frame->columns[i].name == NULL || strcmp(frame->columns[i].name, name) != 0)) {
        i++;
    }
    return i;
}

/* A column that is not among the frame's may be of any table, or one of results by its name in data. */
static bool append_chosen(struct frame *frame, const char *item, size_t length, struct error *why)
{
    char name[64] = "";
    strncat(name, item, length < sizeof name ? length : sizeof name - 1);
    const struct column *shown = column_labelled(name), *column = column_find(name);
    struct frame_column asked = {.extra = true};
    if (frame->columns[place_of(frame, name)].title != NULL) {
        return true;
    }
    if (shown != NULL) {
        asked.of = shown->name;
    } else if (column != NULL) {
        asked.of = asked.title = asked.name = column->name;
        asked.unit = !column_is_number(column)     ? UNIT_TEXT
                     : unit_is_whole(column->unit) ? UNIT_WHOLE
                                                   : UNIT_COUNT;
    } else {
        error_usage(why, "--columns", 0, "there is no column '%s'", name);
        error_expect(why, "one of 'spillway list columns', or of the table (--help)");
        return error_nearest(why, column_nearest(name));
    }
    frame->columns[frame->column_count++] = whole_column(&asked);
    return true;
}

struct frame *frame_create_view(const struct frame_column *columns, uint32_t count,
                                const struct table_view *view, struct error *why)
{
    const char *rest = view != NULL ? view->columns : NULL, *item;
    size_t length,
        most = count + (rest != NULL ? strlen(rest) : 0) + 1; /* ends with an empty one */
    struct frame *frame = array_zeroed(1, sizeof *frame, why);
    bool good = frame != NULL;
    if (good) {
        frame->columns = array_zeroed(most, sizeof *frame->columns, why);
        good = frame->columns != NULL;
    }
    for (uint32_t i = 0; good && i < count; i++) {
        frame->columns[frame->column_count++] = whole_column(&columns[i]);
    }
    while (good && text_item(&rest, &item, &length)) {
        good = append_chosen(frame, item, length, why);
    }
    uint32_t titled = 0;
    for (uint32_t i = 0; good && i < frame->column_count; i++) {
        titled += frame->columns[i].title != NULL;
    }
    if (titled > TABLE_MOST_COLUMNS) {
        error_usage(why, NULL, 0, "a table of %u columns is too wide", titled);
        good = error_expect(why, "at most %d columns, or --json", TABLE_MOST_COLUMNS);
    }
    if (!good) {
        frame_destroy(frame);
        return NULL;
    }
    return frame;
}

struct frame *frame_create(const struct frame_column *columns, uint32_t count, struct error *why)
{
    return frame_create_view(columns, count, NULL, why);
}

bool frame_view_check(const struct table_view *view, const struct frame_column *columns,
                      uint32_t count, struct error *why)
{
    struct frame *frame = frame_create_view(columns, count, view, why);
    frame_destroy(frame);
    return frame != NULL;
}

void frame_destroy(struct frame *frame)
{
    if (frame == NULL) {
        return;
    }
    for (size_t i = 0; i < (size_t)frame->row_count * frame->column_count; i++) {
        free(frame->cells[i].text);
    }
    for (uint32_t row = 0; row < frame->row_count; row++) {
        free(frame->rows[row].reason);
    }
    free(frame->cells);
    free(frame->rows);
    free(frame->columns);
    free(frame);
}

bool frame_ok(const struct frame *frame, struct error *why)
{
    return (frame != NULL && !frame->is_short) ||
           error_set(why, NULL, 0, "out of memory: no room for a table");
}

uint32_t frame_find(const struct frame *frame, const char *name)
{
    uint32_t place = frame != NULL ? place_of(frame, name) : 0;
    assert(frame == NULL || place < frame->column_count);
    return place;
}

double frame_value(const struct frame *frame, uint32_t row, uint32_t column)
{
    const struct frame_cell *cell = &frame->cells[(size_t)row * frame->column_count + column];
    return cell->set && cell->text == NULL ? cell->value : (double)NAN;
}

void frame_row(struct frame *frame)
{
    if (frame == NULL || frame->is_short) {
        return;
    }
    size_t cells = (size_t)frame->row_count * frame->column_count;
    if (!array_reserve(&frame->cells, &frame->cell_capacity, cells + frame->column_count,
                       sizeof *frame->cells, ERROR_UNSEEN) ||
        !array_reserve(&frame->rows, &frame->row_capacity, frame->row_count + 1u,
                       sizeof *frame->rows, ERROR_UNSEEN)) {
        frame->is_short = true;
        return;
    }
    memset(frame->cells + cells, 0, frame->column_count * sizeof *frame->cells);
    frame->row = frame->row_count++;
    frame->rows[frame->row] = (struct frame_row){.reason = NULL};
}

void frame_row_again(struct frame *frame, uint32_t row)
{
    if (frame != NULL) {
        frame->row = row;
    }
}

/* NULL once memory is out. */
static struct frame_cell *cell_of(struct frame *frame, uint32_t column)
{
    if (frame == NULL || frame->is_short) {
        return NULL;
    }
    assert(frame->row < frame->row_count && column < frame->column_count);
    return &frame->cells[(size_t)frame->row * frame->column_count + column];
}

void frame_text(struct frame *frame, uint32_t column, const char *text)
{
    if (text != NULL) {
        frame_textf(frame, column, "%s", text);
    }
}

void frame_textf(struct frame *frame, uint32_t column, const char *format, ...)
{
    struct frame_cell *cell = cell_of(frame, column);
    va_list arguments;
    if (cell == NULL) {
        return;
    }
    free(cell->text);
    va_start(arguments, format);
    *cell = (struct frame_cell){.set = true};
    if (vasprintf(&cell->text, format, arguments) < 0) {
        cell->text = NULL;
        frame->is_short = true;
    }
    va_end(arguments);
}

void frame_range(struct frame *frame, uint32_t column, double value, double low, double high)
{
    struct frame_cell *cell = cell_of(frame, column);
    if (cell != NULL && !isnan(value)) {
        free(cell->text);
        *cell = (struct frame_cell){.set = true, .value = value, .low = low, .high = high};
    }
}

void frame_number(struct frame *frame, uint32_t column, double value)
{
    frame_range(frame, column, value, NAN, NAN);
}

void frame_mean(struct frame *frame, uint32_t column, double mean, double half)
{
    struct frame_cell *cell = cell_of(frame, column);
    frame_range(frame, column, mean, mean - half, mean + half);
    if (cell != NULL && !isnan(mean)) {
        cell->is_mean = true;
    }
}

void frame_mark(struct frame *frame, uint32_t column, char mark)
{
    struct frame_cell *cell = cell_of(frame, column);
    if (cell != NULL) {
        cell->mark = mark;
    }
}

void frame_add(struct frame *frame, const char *const *texts, uint32_t count)
{
    frame_row(frame);
    for (uint32_t i = 0; i < count; i++) {
        frame_text(frame, i, texts[i]);
    }
}

void frame_result(struct frame *frame, const struct result *result)
{
    for (uint32_t i = 0; frame != NULL && i < frame->column_count; i++) {
        const struct frame_column *column = &frame->columns[i];
        double low = NAN, high = NAN;
        char text[CELL_SIZE];
        if (column->column == NULL) {
            continue;
        }
        if (column->unit == UNIT_TEXT) {
            frame_text(frame, i, cell_text(result, column->column, text));
            continue;
        }
        if (!column->single) {
            result_range(result, column->column, &low, &high);
        }
        frame_range(frame, i, result_number(result, column->column), low, high);
    }
}

void frame_reason(struct frame *frame, uint32_t column, const char *text)
{
    if (cell_of(frame, column) != NULL) {
        struct frame_row *row = &frame->rows[frame->row];
        free(row->reason);
        *row = (struct frame_row){.reason = strdup(text), .reason_from = column};
        frame->is_short = row->reason == NULL;
    }
}

void frame_failed(struct frame *frame, uint32_t column, const struct result *result)
{
    char reason[sizeof result->message + 64];
    const struct cell *status = result_cell(result, COLUMN(status));
    snprintf(reason, sizeof reason, "%s%s%s", status->set ? status->text : "failed",
             result->message[0] != '\0' ? ": " : "", result->message);
    frame_reason(frame, column, reason);
}
