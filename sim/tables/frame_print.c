/* A row of a frame as lines for people, and a frame as JSON. */

#include <math.h>
#include <stdlib.h>

#include "core/json_writer.h"
#include "core/text.h"
#include "tables/frame.h"

bool frame_print_fields(const struct frame *frame, FILE *out, struct error *why)
{
    static const struct frame_column columns[] = {
        {.title = ""}, {.title = "", .unit = UNIT_COUNT}, {.title = "", .wrap = true}};
    struct frame *fields = frame_ok(frame, why) ? frame_create(columns, 3, why) : NULL;
    for (uint32_t i = 0; fields != NULL && i < frame->column_count; i++) {
        const struct frame_column *column = &frame->columns[i];
        const struct frame_cell *cell = &frame->cells[i];
        char room[FRAME_WORDS];
        if (column->title == NULL || (column->sparse && !cell->set)) {
            continue;
        }
        if (column->unit == UNIT_JSON && cell->set) {
            /* Each key of an object as a line. */
            json_t *keys = json_loads(cell->text, 0, NULL), *value;
            const char *key;
            json_object_foreach(keys, key, value)
            {
                char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
                frame_row(fields);
                frame_text(fields, 0, key);
                frame_reason(fields, 1, text != NULL ? text : json_string_value(value));
                free(text);
            }
            json_decref(keys);
        } else {
            const char *text = frame_cell_words(column, cell, room);
            frame_add(
                fields,
                (const char *[]){column->title, column->what != NULL ? text : NULL, column->what},
                3);
            if (column->what == NULL) {
                frame_reason(fields, 1, text != NULL ? text : "-");
            }
        }
    }
    bool good = fields != NULL && frame_print(fields, NULL, out, why);
    frame_destroy(fields);
    return good;
}

void frame_columns_print(const char *title, const struct frame_column *columns, uint32_t count,
                         FILE *out)
{
    struct frame *frame = frame_create(columns, count, ERROR_UNSEEN);
    fprintf(out, "%s\n", title);
    for (uint32_t i = 0; frame != NULL && i < count; i++) {
        const struct frame_column *column = &frame->columns[i];
        char label[32];
        if (column->title != NULL && column->name != NULL) {
            snprintf(label, sizeof label, "  %-10s ", column->name);
            table_line(label, column->what, out);
        }
    }
    frame_destroy(frame);
}

/* A frame as JSON, for programs. Write errors of the stream are found when it is flushed. */

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

static bool frame_json_put_row(struct json_writer *json, const char *key, const struct frame *frame,
                               uint32_t row, struct error *why)
{
    json_begin(json, key, '{');
    for (uint32_t i = 0; i < frame->column_count; i++) {
        const struct frame_column *column = &frame->columns[i];
        const struct frame_cell *cell = &frame->cells[(size_t)row * frame->column_count + i];
        if (column->key == NULL || (!cell->set && column->sparse)) {
            continue;
        }
        if (column->unit == UNIT_JSON) {
            json_put(json, column->key, "%s", cell->set ? cell->text : "null");
        } else if (!cell->set || cell->text != NULL) {
            json_put_text(json, column->key, cell->set ? cell->text : NULL);
        } else {
            frame_json_put_number(json, column->key, column->unit, cell->value);
        }
        if (column->ranged) {
            char end[64];
            bool has = cell->set && cell->low < cell->high;
            snprintf(end, sizeof end, "%s_low", column->key);
            frame_json_put_number(json, end, column->unit, has ? cell->low : NAN);
            snprintf(end, sizeof end, "%s_high", column->key);
            frame_json_put_number(json, end, column->unit, has ? cell->high : NAN);
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
        good = frame_json_put_row(&json, NULL, frame, row, why);
        fputc('\n', out);
    }
    return good;
}

bool frame_print_json_member(const struct frame *frame, const char *key, FILE *out,
                             struct error *why)
{
    struct json_writer json = {.out = out};
    json_begin(&json, NULL, '{');
    bool good = frame_ok(frame, why) && frame_json_put_row(&json, key, frame, 0, why);
    json_end(&json, '}');
    fputc('\n', out);
    return good;
}

void frame_take(struct frame *frame, uint32_t column, struct frame *rows)
{
    struct text_file file;
    bool good = text_open(&file, ERROR_UNSEEN) && frame_ok(rows, ERROR_UNSEEN);
    struct json_writer json = {.out = file.out};
    if (good) {
        json_begin(&json, NULL, '[');
        for (uint32_t row = 0; good && row < rows->row_count; row++) {
            good = frame_json_put_row(&json, NULL, rows, row, ERROR_UNSEEN);
        }
        json_end(&json, ']');
    }
    char *text = text_close(&file, good, ERROR_UNSEEN);
    frame_text(frame, column, text);
    if (frame != NULL && text == NULL) {
        frame->is_short = true;
    }
    free(text);
    frame_destroy(rows);
}
