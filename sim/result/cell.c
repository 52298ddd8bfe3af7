#include "result/cell.h"

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

/* Write nanoseconds as decimals with `digits` places: 3 gives microseconds, 6 milliseconds. */
static void cell_format_ns(int64_t ns, int digits, char *text, size_t size)
{
    uint64_t scale = digits == 3 ? 1000 : 1000000;
    uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    snprintf(text, size, "%s%" PRIu64 ".%0*" PRIu64, ns < 0 ? "-" : "", magnitude / scale, digits,
             magnitude % scale);
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

static void put_ns(struct cell_writer *writer, int64_t ns, int digits)
{
    char text[32];
    cell_format_ns(ns, digits, text, sizeof text);
    cell_put(writer, "%s", text);
}

static void put_items(struct cell_writer *writer, const struct result_item *items, uint32_t count,
                      enum column_type type)
{
    cell_put(writer, "{");
    for (uint32_t i = 0; i < count; i++) {
        cell_put(writer, "%s\"%s\":", i > 0 ? "," : "", items[i].name);
        if (type == COLUMN_TYPE_PARTS) {
            put_ns(writer, items[i].ns, 3);
        } else {
            cell_put_real(writer, items[i].share);
        }
    }
    cell_put(writer, "}");
}

const char *cell_text(const struct result *result, enum column column, char buffer[CELL_SIZE])
{
    if (!result_has(result, column)) {
        return NULL;
    }
    const struct cell *cell = &result->cells[column];
    struct cell_writer writer = {.text = buffer};
    switch (column_kinds[column].type) {
    case COLUMN_TYPE_TEXT:
        return cell->text;
    case COLUMN_TYPE_INTEGER:
        cell_put(&writer, "%" PRId64, cell->integer);
        break;
    case COLUMN_TYPE_REAL:
        cell_put_real(&writer, cell->real);
        break;
    case COLUMN_TYPE_US:
        put_ns(&writer, cell->integer, 3);
        break;
    case COLUMN_TYPE_MS:
        put_ns(&writer, cell->integer, 6);
        break;
    case COLUMN_TYPE_PARTS:
    case COLUMN_TYPE_SHARES: {
        uint32_t count;
        const struct result_item *items = result_items(result, column, &count);
        put_items(&writer, items, count, column_kinds[column].type);
        break;
    }
    case COLUMN_TYPE_BAND:
        cell_put(&writer, "[");
        cell_put_real(&writer, result->band[column - COLUMN_ERROR_BAND][0]);
        cell_put(&writer, ",");
        cell_put_real(&writer, result->band[column - COLUMN_ERROR_BAND][1]);
        cell_put(&writer, "]");
        break;
    case COLUMN_TYPE_NOTES:
        notes_write_json(&result->notes, buffer, CELL_SIZE);
        break;
    }
    return buffer;
}

static bool is_name(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");
    return length > 0 && length < RESULT_NAME && text[length] == '\0';
}

static bool cell_read_item(const char *name, const json_t *value, enum column_type type,
                           struct result_item *item)
{
    double number = json_number_value(value);
    *item = (struct result_item){.name = name};
    if (type == COLUMN_TYPE_PARTS) {
        return json_is_number(value) && cell_read_ns(number, 1e3, &item->ns);
    }
    item->share = number;
    return json_is_number(value);
}

static bool parse_items(json_t *object, enum column_type type, struct result_item *items,
                        uint32_t *count, char (*names)[RESULT_NAME])
{
    if (!json_is_object(object)) {
        return false;
    }
    const char *name;
    json_t *value;
    json_object_foreach(object, name, value)
    {
        if (*count == RESULT_MOST_ITEMS || !is_name(name)) {
            return false;
        }
        memcpy(names[*count], name, strlen(name) + 1);
        if (!cell_read_item(names[*count], value, type, &items[*count])) {
            return false;
        }
        ++*count;
    }
    return true;
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

static bool parse_column(struct result *result, enum column column, json_t *json,
                         char (*names)[RESULT_NAME])
{
    enum column_type type = column_kinds[column].type;
    switch (column) {
    case COLUMN_PARTS:
        return parse_items(json, type, result->parts, &result->part_count, names);
    case COLUMN_STALLS:
        return parse_items(json, type, result->stalls, &result->stall_count, names);
    case COLUMN_BASIS_SHARE:
        return parse_items(json, type, result->basis, &result->basis_count, names);
    case COLUMN_NOTES:
        return notes_read_json(json, &result->notes);
    default:
        assert(type == COLUMN_TYPE_BAND);
        return parse_band(json, result->band[column - COLUMN_ERROR_BAND]);
    }
}

bool cell_parse(struct result *result, enum column column, const char *text,
                char (*names)[RESULT_NAME])
{
    json_error_t ignored;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &ignored);
    bool ok = json != NULL && parse_column(result, column, json, names);
    json_decref(json);
    result->cells[column].set = ok;
    return ok;
}
