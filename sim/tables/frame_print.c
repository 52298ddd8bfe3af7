/* A frame as an aligned table, for people. */

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "core/json_writer.h"
#include "core/text.h"
#include "tables/frame.h"

/* The columns with a title, and their places in the frame. */
struct shown {
    struct table_column columns[TABLE_MOST_COLUMNS];
    uint32_t places[TABLE_MOST_COLUMNS];
    uint32_t count;
};

static void list_shown(const struct frame *frame, struct shown *out)
{
    out->count = 0;
    for (uint32_t i = 0; i < frame->column_count; i++) {
        const struct frame_column *column = &frame->columns[i];
        if (column->title == NULL) {
            continue;
        }
        assert(out->count < TABLE_MOST_COLUMNS);
        out->places[out->count] = i;
        out->columns[out->count++] = (struct table_column){.title = column->title,
                                                           .right = column->unit != UNIT_TEXT,
                                                           .drop = column->drop,
                                                           .optional = column->optional,
                                                           .wrap = column->wrap,
                                                           .name = column->name,
                                                           .what = column->what,
                                                           .extra = column->extra};
    }
}

enum { WORDS = SHOWN_TEXT + 1 }; /* with a mark */

static const char *frame_text_cell_words(const struct frame_column *column,
                                         const struct frame_cell *cell, char text[WORDS])
{
    char *number = text + (cell->mark != '\0');
    if (!cell->set || cell->text != NULL) {
        return cell->text;
    }
    text[0] = cell->mark;
    const char *written =
        cell->is_mean ? shown_mean(column->unit, cell->value, cell->high - cell->value, number)
                      : shown_value(column->unit, column->decimals, cell->value, cell->low,
                                    cell->high, number);
    return written != NULL ? text : NULL;
}

static bool frame_text_add_row(const struct frame *frame, const struct shown *shown, uint32_t row,
                               struct table *table, struct error *why)
{
    char room[TABLE_MOST_COLUMNS][WORDS];
    const char *texts[TABLE_MOST_COLUMNS];
    const struct frame_cell *cells = &frame->cells[(size_t)row * frame->column_count];
    const char *reason = frame->rows[row].reason;
    uint32_t end = reason != NULL ? frame->rows[row].reason_from : frame->column_count, count = 0;
    for (; count < shown->count && shown->places[count] < end; count++) {
        uint32_t place = shown->places[count];
        texts[count] = frame_text_cell_words(&frame->columns[place], &cells[place], room[count]);
    }
    if (reason != NULL) {
        texts[count++] = reason;
    }
    return table_add(table, texts, count, why);
}

bool frame_print(const struct frame *frame, const struct table_view *view, FILE *out,
                 struct error *why)
{
    struct shown shown;
    if (!frame_ok(frame, why)) {
        return false;
    }
    list_shown(frame, &shown);
    struct table *table = table_create(shown.columns, shown.count, why);
    bool good = table != NULL;
    if (good && view != NULL) {
        table_choose(table, view);
    }
    for (uint32_t row = 0; good && row < frame->row_count; row++) {
        good = frame_text_add_row(frame, &shown, row, table, why);
    }
    if (good) {
        table_print(table, out);
    }
    table_destroy(table);
    return good;
}

/* Each key of an object as a line. */
static bool add_object(struct table *table, const char *object, struct error *why)
{
    json_t *keys = json_loads(object, 0, NULL), *value;
    const char *key;
    bool good = true;
    json_object_foreach(keys, key, value)
    {
        char *text = json_is_string(value) ? NULL : json_dumps(value, JSON_ENCODE_ANY);
        const char *texts[] = {key, text != NULL ? text : json_string_value(value)};
        good = good && table_add(table, texts, 2, why);
        free(text);
    }
    json_decref(keys);
    return good;
}

static bool add_field(struct table *table, const struct frame_column *column,
                      const struct frame_cell *cell, struct error *why)
{
    char text[WORDS];
    const char *texts[] = {column->title, frame_text_cell_words(column, cell, text), column->what};
    return column->title == NULL ? true
           : column->unit == UNIT_JSON && cell->set
               ? add_object(table, cell->text, why)
               : table_add(table, texts, column->what != NULL ? 3 : 2, why);
}

bool frame_print_fields(const struct frame *frame, FILE *out, struct error *why)
{
    static const struct table_column columns[] = {
        {.title = ""}, {.title = "", .right = true}, {.title = "", .wrap = true}};
    struct table *table = frame_ok(frame, why) ? table_create(columns, 3, why) : NULL;
    bool good = table != NULL;
    for (uint32_t i = 0; good && i < frame->column_count; i++) {
        good = add_field(table, &frame->columns[i], &frame->cells[i], why);
    }
    if (good) {
        table_print(table, out);
    }
    table_destroy(table);
    return good;
}

/* ---- what a reader can choose ---- */

void frame_columns_print(const char *title, const struct frame_column *columns, uint32_t count,
                         FILE *out)
{
    struct error unused;
    struct frame *frame = frame_create(columns, count, &unused);
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

static bool frame_json_put_row(struct json_writer *json, const char *key, const struct frame *frame,
                               uint32_t row, struct error *why)
{
    const struct frame_cell *cells = &frame->cells[(size_t)row * frame->column_count];
    json_begin(json, key, '{');
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
    struct error unused;
    struct text_file file;
    bool good = text_open(&file, &unused) && frame_ok(rows, &unused);
    struct json_writer json = {.out = file.out};
    if (good) {
        json_begin(&json, NULL, '[');
        for (uint32_t row = 0; good && row < rows->row_count; row++) {
            good = frame_json_put_row(&json, NULL, rows, row, &unused);
        }
        json_end(&json, ']');
    }
    char *text = text_close(&file, good, &unused);
    frame_text(frame, column, text);
    if (frame != NULL && text == NULL) {
        frame->is_short = true;
    }
    free(text);
    frame_destroy(rows);
}
