#include "predict/result/cell.h"

#include <assert.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A text that grows; always terminated. Cells that the program makes always fit. */
struct cell_writer {
    char *text;
    size_t used;
};

static void cell_put(struct cell_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void cell_put(struct cell_writer *writer, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(writer->text + writer->used, CELL_SIZE - writer->used, format, list);
    va_end(list);
    assert(length >= 0 && writer->used + (size_t)length < CELL_SIZE);
    writer->used += (size_t)length;
}

static void cell_put_real(struct cell_writer *writer, double value)
{
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    cell_put(writer, "%s", text);
}

bool cell_read_ns(double value, double scale, int64_t *ns)
{
    double exact = value * scale;
    if (!(fabs(exact) < 0x1p63)) {
        return false;
    }
    *ns = (int64_t)llround(exact);
    return true;
}

/* Whole nanoseconds in microseconds or milliseconds, exact. */
static void put_time(struct cell_writer *writer, int64_t ns, enum unit unit)
{
    uint64_t scale = (uint64_t)unit_ns(unit);
    uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    cell_put(writer, "%s%" PRIu64 ".%0*" PRIu64, ns < 0 ? "-" : "", magnitude / scale,
             unit == UNIT_US ? 3 : 6, magnitude % scale);
}

static void put_items(struct cell_writer *writer, const struct result *result,
                      const struct column *column)
{
    uint32_t count;
    const struct result_item *items = result_items(result, column, &count);
    cell_put(writer, "{");
    for (uint32_t i = 0; i < count; i++) {
        cell_put(writer, "%s\"%s\":", i > 0 ? "," : "", items[i].name);
        if (unit_ns(column->unit) > 0) {
            put_time(writer, items[i].ns, column->unit);
        } else {
            cell_put_real(writer, items[i].share);
        }
    }
    cell_put(writer, "}");
}

const char *cell_text(const struct result *result, const struct column *column,
                      char buffer[CELL_SIZE])
{
    if (!result_has(result, column)) {
        return NULL;
    }
    struct cell_writer writer = {.text = buffer};
    switch (column->holds) {
    case HOLDS_ITEMS:
        put_items(&writer, result, column);
        break;
    case HOLDS_BAND:
        cell_put(&writer, "[");
        cell_put_real(&writer, result->band[column->band - BANDED_RATE][0]);
        cell_put(&writer, ",");
        cell_put_real(&writer, result->band[column->band - BANDED_RATE][1]);
        cell_put(&writer, "]");
        break;
    case HOLDS_NOTES:
        notes_write_json(result->notes, buffer, CELL_SIZE);
        break;
    default:
        if (column->unit == UNIT_TEXT) {
            return result_cell(result, column)->text;
        }
        if (unit_ns(column->unit) > 0) {
            put_time(&writer, result_cell(result, column)->integer, column->unit);
        } else if (unit_is_whole(column->unit)) {
            cell_put(&writer, "%" PRId64, result_cell(result, column)->integer);
        } else {
            cell_put_real(&writer, result_cell(result, column)->real);
        }
    }
    return buffer;
}

static bool parse_items(json_t *object, enum unit unit, struct result_item *items, uint32_t *count,
                        char (*names)[RESULT_NAME])
{
    const char *name;
    json_t *value;
    bool good = json_is_object(object) && json_object_size(object) <= RESULT_MOST_ITEMS;
    json_object_foreach(object, name, value)
    {
        size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");
        double number = json_number_value(value);
        good = good && length > 0 && length < RESULT_NAME && name[length] == '\0' &&
               json_is_number(value);
        if (!good) {
            return false;
        }
        struct result_item *item = &items[*count];
        memcpy(names[*count], name, length + 1);
        *item = (struct result_item){.name = names[(*count)++]};
        if (unit_ns(unit) == 0) {
            item->share = number;
        } else if (!cell_read_ns(number, unit_ns(unit), &item->ns)) {
            return false;
        }
    }
    return good;
}

static bool parse_band(const json_t *array, double band[2])
{
    for (size_t i = 0; i < 2; i++) {
        const json_t *value = json_array_get(array, i);
        if (!json_is_number(value)) {
            return false;
        }
        band[i] = json_number_value(value);
    }
    return json_array_size(array) == 2;
}

static bool parse_column(struct result *result, const struct column *column, json_t *json,
                         char (*names)[RESULT_NAME])
{
    enum unit unit = column->unit;
    return column->holds == HOLDS_BAND ? parse_band(json, result->band[column->band - BANDED_RATE])
           : column->holds == HOLDS_NOTES ? notes_read_json(json, &result->notes)
           : column == COLUMN(parts_us)
               ? parse_items(json, unit, result->parts, &result->part_count, names)
           : column == COLUMN(stalls_us)
               ? parse_items(json, unit, result->stalls, &result->stall_count, names)
               : parse_items(json, unit, result->basis, &result->basis_count, names);
}

bool cell_parse(struct result *result, const struct column *column, const char *text,
                char (*names)[RESULT_NAME])
{
    json_error_t ignored;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &ignored);
    bool ok = json != NULL && parse_column(result, column, json, names);
    json_decref(json);
    result->cells[column->index].set = ok;
    return ok;
}
