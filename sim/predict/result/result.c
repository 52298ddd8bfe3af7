/* Each cell is set once and belongs to its result. A value that is not a number (a ratio over
 * nothing) stays null, so that no reader ever meets a NaN. */
#include "predict/result/result.h"

#include "core/text.h"

#include <assert.h>
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

const struct result_item *result_items(const struct result *result, const struct column *column,
                                       uint32_t *count)
{
    if (column == COLUMN(parts_us)) {
        *count = result->part_count;
        return result->parts;
    }
    if (column == COLUMN(stalls_us)) {
        *count = result->stall_count;
        return result->stalls;
    }
    assert(column == COLUMN(basis_share));
    *count = result->basis_count;
    return result->basis;
}

const struct result_item *result_largest(const struct result *result, const struct column *column)
{
    uint32_t count;
    const struct result_item *items = result_items(result, column, &count), *largest = NULL;
    for (uint32_t i = 0; i < count; i++) {
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
    uint32_t items = 0;
    if (column->holds == HOLDS_ITEMS) {
        result_items(result, column, &items);
    }
    return result_cell(result, column)->set || items > 0 || column->holds == HOLDS_NOTES;
}

double result_number(const struct result *result, const struct column *column)
{
    double ns = unit_ns(column->unit);
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

const char *result_shown(const struct result *result, const struct column *column,
                         char text[SHOWN_TEXT])
{
    return shown_value(column_shown(column), 0, result_number(result, column), NAN, NAN, text);
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
