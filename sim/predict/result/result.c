/* Each cell is set once. A ratio over nothing stays null, so that no reader ever meets a NaN. */
#include "predict/result/result.h"

#include "core/text.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void result_init(struct result *result)
{
    *result = (struct result){.cells = {{.set = false}}};
}

void result_release(struct result *result)
{
    for (uint32_t i = 0; i < column_count; i++) {
        if (result->cells[i].set && column_is_text(column_rows[i])) {
            free(result->cells[i].text);
        }
    }
    free(result->layers);
    free(result->steps);
    free(result->requests);
    free(result->waits);
    free(result->bins);
    free(result->masses);
    free(result->draws.values);
    free(result->names);
    json_decref(result->notes);
    result_init(result);
}

/* A column's items, and where they are counted. */
static struct result_item *result_items(struct result *result, const struct column *column,
                                        uint32_t **count)
{
    bool parts = column == COLUMN(parts_us), stalls = column == COLUMN(stalls_us);
    *count = parts ? &result->part_count : stalls ? &result->stall_count : &result->basis_count;
    return parts ? result->parts : stalls ? result->stalls : result->basis;
}

const struct result_item *result_largest(const struct result *result, const struct column *column)
{
    uint32_t *count;
    const struct result_item *items = result_items((struct result *)result, column, &count);
    const struct result_item *largest = NULL;
    for (uint32_t i = 0; column->holds == HOLDS_ITEMS && i < *count; i++) {
        largest = largest == NULL || items[i].ns > largest->ns ? &items[i] : largest;
    }
    return largest;
}

static bool has_status(const struct result *result, const char *name)
{
    const struct cell *status = result_cell(result, COLUMN(status));
    return status->set && strcmp(status->text, name) == 0;
}

bool result_ok(const struct result *result)
{
    return has_status(result, "ok");
}

bool result_failed(const struct result *result)
{
    return has_status(result, "failed");
}

bool result_out_of_memory(const struct result *result)
{
    return has_status(result, "out-of-memory");
}

bool result_has(const struct result *result, const struct column *column)
{
    return result_cell(result, column)->set || column->holds == HOLDS_NOTES ||
           result_largest(result, column) != NULL;
}

double result_number(const struct result *result, const struct column *column)
{
    double ns = unit_kinds[column->unit].ns;
    if (column->read != NULL) {
        return column->read(result, column);
    }
    const struct cell *cell = result_cell(result, column);
    return !cell->set                   ? (double)NAN
           : !column_is_integer(column) ? cell->real
           : ns > 0                     ? (double)cell->integer / ns
                                        : (double)cell->integer;
}

bool result_range(const struct result *result, const struct column *column, double *low,
                  double *high)
{
    *low = column->low != NULL ? result_number(result, column->low) : NAN;
    *high = column->low != NULL ? result_number(result, column->high) : NAN;
    return *low < *high; /* false of NaN */
}

double result_number_with(const struct result *result, const struct column *column, uint32_t family)
{
    return column->range > 0 && result->family_count > 0
               ? result->families[family].values[column->range - 1]
               : result_number(result, column);
}

void result_note(struct result *result, json_t *note)
{
    text_append(result->message, sizeof result->message, "%s%s",
                result->message[0] != '\0' ? "; " : "", note_words(note));
    result->notes = result->notes != NULL ? result->notes : json_array();
    if (json_array_size(result->notes) < NOTES_MOST) {
        json_array_append(result->notes, note);
    }
    json_decref(note);
}

const char *result_reason(const struct result *result, char *text, size_t size)
{
    bool noted = json_array_size(result->notes) > 0;
    text_copy(text, size, noted ? note_words(json_array_get(result->notes, 0)) : result->message);
    return text;
}

void result_drop_notes(struct result *result)
{
    json_decref(result->notes);
    result->notes = NULL;
    result->message[0] = '\0';
}

void result_integer(struct result *result, const struct column *column, int64_t value)
{
    assert(column_is_integer(column));
    result->cells[column->index] = (struct cell){.set = true, .integer = value};
}

void result_real(struct result *result, const struct column *column, double value)
{
    assert(column_is_number(column) && !column_is_integer(column));
    result->cells[column->index] = (struct cell){.set = isfinite(value), .real = value};
}

bool result_text(struct result *result, const struct column *column, const char *text,
                 struct error *why)
{
    assert(column_is_text(column));
    char *copy = strdup(text);
    if (copy == NULL) {
        return error_set(why, NULL, 0, "out of memory: no room for a result");
    }
    struct cell *cell = &result->cells[column->index];
    if (cell->set) {
        free(cell->text);
    }
    *cell = (struct cell){.set = true, .text = copy};
    return true;
}

/* These write to texts of CELL_SIZE bytes, in which cells that the program makes always fit. */

static void cell_put_real(char *text, double value)
{
    char shortest[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(shortest, sizeof shortest, "%.*g", digits, value);
        if (strtod(shortest, NULL) == value) {
            break;
        }
    }
    text_append(text, CELL_SIZE, "%s", shortest);
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
static void put_time(char *text, int64_t ns, enum unit unit)
{
    uint64_t scale = (uint64_t)unit_kinds[unit].ns;
    uint64_t magnitude = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    text_append(text, CELL_SIZE, "%s%" PRIu64 ".%0*" PRIu64, ns < 0 ? "-" : "", magnitude / scale,
                unit == UNIT_US ? 3 : 6, magnitude % scale);
}

static void put_items(char *text, const struct result *result, const struct column *column)
{
    uint32_t *count;
    const struct result_item *items = result_items((struct result *)result, column, &count);
    text_append(text, CELL_SIZE, "{");
    for (uint32_t i = 0; i < *count; i++) {
        text_append(text, CELL_SIZE, "%s\"%s\":", i > 0 ? "," : "", items[i].name);
        if (unit_kinds[column->unit].ns > 0) {
            put_time(text, items[i].ns, column->unit);
        } else {
            cell_put_real(text, items[i].share);
        }
    }
    text_append(text, CELL_SIZE, "}");
}

const char *cell_text(const struct result *result, const struct column *column,
                      char buffer[CELL_SIZE])
{
    if (!result_has(result, column)) {
        return NULL;
    }
    buffer[0] = '\0';
    switch (column->holds) {
    case HOLDS_ITEMS:
        put_items(buffer, result, column);
        break;
    case HOLDS_BAND:
        text_append(buffer, CELL_SIZE, "[");
        cell_put_real(buffer, result->band[column->band - BANDED_RATE][0]);
        text_append(buffer, CELL_SIZE, ",");
        cell_put_real(buffer, result->band[column->band - BANDED_RATE][1]);
        text_append(buffer, CELL_SIZE, "]");
        break;
    case HOLDS_NOTES:
        notes_write_json(result->notes, buffer, CELL_SIZE);
        break;
    default:
        if (column->unit == UNIT_TEXT) {
            return result_cell(result, column)->text;
        }
        if (unit_kinds[column->unit].ns > 0) {
            put_time(buffer, result_cell(result, column)->integer, column->unit);
        } else if (unit_is_whole(column->unit)) {
            text_append(buffer, CELL_SIZE, "%" PRId64, result_cell(result, column)->integer);
        } else {
            cell_put_real(buffer, result_cell(result, column)->real);
        }
    }
    return buffer;
}

static bool parse_items(json_t *object, struct result *result, const struct column *column,
                        char (*names)[RESULT_NAME])
{
    uint32_t *count;
    struct result_item *items = result_items(result, column, &count);
    double ns = unit_kinds[column->unit].ns;
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
        if (ns == 0) {
            item->share = number;
        } else if (!cell_read_ns(number, ns, &item->ns)) {
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

bool cell_parse(struct result *result, const struct column *column, const char *text,
                char (*names)[RESULT_NAME])
{
    json_error_t ignored;
    json_t *json = json_loads(text, JSON_REJECT_DUPLICATES, &ignored);
    bool ok =
        json != NULL &&
        (column->holds == HOLDS_BAND    ? parse_band(json, result->band[column->band - BANDED_RATE])
         : column->holds == HOLDS_NOTES ? notes_read_json(json, &result->notes)
                                        : parse_items(json, result, column, names));
    json_decref(json);
    result->cells[column->index].set = ok;
    return ok;
}
