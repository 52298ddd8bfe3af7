/* A frame as JSON, for programs. Write errors of the stream are found when it is flushed. */
#include "answer/frame.h"

#include "base/text.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLAGS = JSON_COMPACT | JSON_ENCODE_ANY | JSON_REAL_PRECISION(12) };

static bool frame_json_print_value(const char *key, json_t *value, bool first, FILE *out,
                                   struct error *why)
{
    char *text = value != NULL ? json_dumps(value, FLAGS) : NULL;
    json_decref(value);
    if (text == NULL) {
        return error_set(why, NULL, 0, "a row is not UTF-8, so it cannot be written as JSON");
    }
    fprintf(out, "%s\"%s\":%s", first ? "{" : ",", key, text);
    free(text);
    return true;
}

static json_t *json_of_number(enum unit unit, double value)
{
    return !isfinite(value)      ? json_null()
           : unit == UNIT_FLAG   ? json_boolean(value != 0)
           : unit_is_whole(unit) ? json_integer(llround(value))
                                 : json_real(value);
}

static bool print_range(const struct frame_column *column, const struct frame_cell *cell, FILE *out,
                        struct error *why)
{
    char key[64];
    bool has = cell->set && cell->low < cell->high;
    snprintf(key, sizeof key, "%s_low", column->key);
    bool good = frame_json_print_value(key, json_of_number(column->unit, has ? cell->low : NAN),
                                       false, out, why);
    snprintf(key, sizeof key, "%s_high", column->key);
    return good && frame_json_print_value(key, json_of_number(column->unit, has ? cell->high : NAN),
                                          false, out, why);
}

static bool frame_json_print_cell(const struct frame_column *column, const struct frame_cell *cell,
                                  bool first, FILE *out, struct error *why)
{
    if (column->unit == UNIT_JSON) {
        fprintf(out, "%s\"%s\":%s", first ? "{" : ",", column->key,
                cell->set ? cell->text : "null");
        return true;
    }
    json_t *value = !cell->set           ? json_null()
                    : cell->text != NULL ? json_string(cell->text)
                                         : json_of_number(column->unit, cell->value);
    return frame_json_print_value(column->key, value, first, out, why) &&
           (!column->ranged || print_range(column, cell, out, why));
}

/* A comma before each key but the first: the brace that the first needs stands in its place. */
static bool frame_json_print_row(const struct frame *frame, uint32_t row, FILE *out,
                                 struct error *why)
{
    const struct frame_cell *cells = &frame->cells[(size_t)row * frame->column_count];
    bool good = true, first = true;
    for (uint32_t i = 0; good && i < frame->column_count; i++) {
        const struct frame_column *column = &frame->columns[i];
        if (column->key != NULL && (cells[i].set || !column->sparse)) {
            good = frame_json_print_cell(column, &cells[i], first, out, why);
            first = false;
        }
    }
    fputc('}', out);
    return good;
}

bool frame_print_json(const struct frame *frame, FILE *out, struct error *why)
{
    bool good = frame_ok(frame, why);
    for (uint32_t row = 0; good && row < frame->row_count; row++) {
        good = frame_json_print_row(frame, row, out, why);
        fputc('\n', out);
    }
    return good;
}

static bool print_list(const struct frame *rows, FILE *out, struct error *why)
{
    bool good = frame_ok(rows, why);
    for (uint32_t row = 0; good && row < rows->row_count; row++) {
        fputs(row > 0 ? "," : "[", out);
        good = frame_json_print_row(rows, row, out, why);
    }
    fputs(good && rows->row_count == 0 ? "[]" : "]", out);
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
    return frame_ok(row, why) && frame_json_print_row(row, 0, out, why);
}

bool frame_object(struct frame *frame, uint32_t column, const struct frame *row, struct error *why)
{
    return frame_json_put(frame, column, row, print_object, why);
}
