/* A frame as JSON, for programs. Write errors of the stream are found when it is flushed. */
#include "tables/frame.h"

#include "core/json_writer.h"
#include "core/text.h"

#include <math.h>
#include <stdlib.h>

enum { DIGITS = 12 };

static void frame_json_put_number(struct json_writer *json, const char *key, enum unit unit,
                                  double value)
{
    if (isfinite(value) && unit == UNIT_FLAG) {
        json_put(json, key, value != 0 ? "true" : "false");
    } else if (isfinite(value) && unit_is_whole(unit)) {
        json_put(json, key, "%lld", llround(value));
    } else {
        json_put_number(json, key, value, DIGITS);
    }
}

static void frame_json_put_range(struct json_writer *json, const struct frame_column *column,
                                 const struct frame_cell *cell)
{
    char key[64];
    bool has = cell->set && cell->low < cell->high;
    snprintf(key, sizeof key, "%s_low", column->key);
    frame_json_put_number(json, key, column->unit, has ? cell->low : NAN);
    snprintf(key, sizeof key, "%s_high", column->key);
    frame_json_put_number(json, key, column->unit, has ? cell->high : NAN);
}

static void frame_json_put_cell(struct json_writer *json, const struct frame_column *column,
                                const struct frame_cell *cell)
{
    if (column->unit == UNIT_JSON) {
        json_put(json, column->key, "%s", cell->set ? cell->text : "null");
        return;
    }
    if (!cell->set || cell->text != NULL) {
        json_put_text(json, column->key, cell->set ? cell->text : NULL);
    } else {
        frame_json_put_number(json, column->key, column->unit, cell->value);
    }
    if (column->ranged) {
        frame_json_put_range(json, column, cell);
    }
}

static bool frame_json_put_row(struct json_writer *json, const struct frame *frame, uint32_t row,
                               struct error *why)
{
    const struct frame_cell *cells = &frame->cells[(size_t)row * frame->column_count];
    json_begin(json, NULL, '{');
    for (uint32_t i = 0; i < frame->column_count; i++) {
        const struct frame_column *column = &frame->columns[i];
        if (column->key != NULL && (cells[i].set || !column->sparse)) {
            frame_json_put_cell(json, column, &cells[i]);
        }
    }
    json_end(json, '}');
    return !json->bad ||
           error_set(why, NULL, 0, "a row is not UTF-8, so it cannot be written as JSON");
}

bool frame_print_json(const struct frame *frame, FILE *out, struct error *why)
{
    bool good = frame_ok(frame, why);
    for (uint32_t row = 0; good && row < frame->row_count; row++) {
        struct json_writer json = {.out = out};
        good = frame_json_put_row(&json, frame, row, why);
        fputc('\n', out);
    }
    return good;
}

static bool print_list(const struct frame *rows, FILE *out, struct error *why)
{
    struct json_writer json = {.out = out};
    bool good = frame_ok(rows, why);
    json_begin(&json, NULL, '[');
    for (uint32_t row = 0; good && row < rows->row_count; row++) {
        good = frame_json_put_row(&json, rows, row, why);
    }
    json_end(&json, ']');
    return good;
}

/* Fill a cell with what `print` writes of another frame. */
static bool frame_json_put(struct frame *frame, uint32_t column, const struct frame *rows,
                           bool (*print)(const struct frame *rows, FILE *out, struct error *why),
                           struct error *why)
{
    struct text_file file;
    bool good = text_open(&file, why) && print(rows, file.out, why);
    char *text = text_close(&file, good, why);
    good = text != NULL;
    frame_text(frame, column, text);
    free(text);
    return good;
}

bool frame_list(struct frame *frame, uint32_t column, const struct frame *rows, struct error *why)
{
    return frame_json_put(frame, column, rows, print_list, why);
}

void frame_take(struct frame *frame, uint32_t column, struct frame *rows)
{
    struct error unused;
    if (frame != NULL && !frame_list(frame, column, rows, &unused)) {
        frame->is_short = true;
    }
    frame_keep(frame, column, rows);
}

static bool print_object(const struct frame *row, FILE *out, struct error *why)
{
    struct json_writer json = {.out = out};
    return frame_ok(row, why) && frame_json_put_row(&json, row, 0, why);
}

bool frame_object(struct frame *frame, uint32_t column, const struct frame *row, struct error *why)
{
    return frame_json_put(frame, column, row, print_object, why);
}
