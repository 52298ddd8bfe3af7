/* Each cell is set once and belongs to its result. A value that is not a number (a ratio over
 * nothing) stays null, so that no reader ever meets a NaN. */
#include "result/result.h"

#include "base/text.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct column_kind column_kinds[COLUMN_COUNT] = {
#define COLUMN(id, name, type, what) [COLUMN_##id] = {name, COLUMN_TYPE_##type, what},
#include "result/columns.def"
#undef COLUMN
};

const struct column_range column_ranges[RANGE_COUNT] = {
#define COLUMN(id, name, type, what)
#define RANGED(id, name, type, what) {COLUMN_##id, COLUMN_##id##_LOW, COLUMN_##id##_HIGH},
#include "result/columns.def"
#undef COLUMN
};

bool column_is_end(enum column column)
{
    bool end = false;
    for (size_t i = 0; i < RANGE_COUNT; i++) {
        end = end || column_ranges[i].low == column || column_ranges[i].high == column;
    }
    return end;
}

const struct column_range *column_range_of(enum column column)
{
    for (size_t i = 0; i < RANGE_COUNT; i++) {
        if (column_ranges[i].column == column) {
            return &column_ranges[i];
        }
    }
    return NULL;
}

const enum column drawn_columns[DRAWN_COUNT] = {
#define DRAWN(id, name) COLUMN_##id,
#include "result/drawn.def"
#undef DRAWN
};

void result_init(struct result *result)
{
    *result = (struct result){.cells = {{.set = false}}};
}

void result_release(struct result *result)
{
    for (int column = 0; column < COLUMN_COUNT; column++) {
        struct cell *cell = &result->cells[column];
        if (cell->set && column_kinds[column].type == COLUMN_TYPE_TEXT) {
            free(cell->text);
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
    result_init(result);
}

const struct result_item *result_items(const struct result *result, enum column column,
                                       uint32_t *count)
{
    switch (column) {
    case COLUMN_PARTS:
        *count = result->part_count;
        return result->parts;
    case COLUMN_STALLS:
        *count = result->stall_count;
        return result->stalls;
    default:
        assert(column == COLUMN_BASIS_SHARE);
        *count = result->basis_count;
        return result->basis;
    }
}

const struct result_item *result_largest(const struct result *result, enum column column)
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
    const struct cell *status = &result->cells[COLUMN_STATUS];
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

bool result_has(const struct result *result, enum column column)
{
    enum column_type type = column_kinds[column].type;
    uint32_t items = 0;
    if (type == COLUMN_TYPE_PARTS || type == COLUMN_TYPE_SHARES) {
        result_items(result, column, &items);
    }
    return result->cells[column].set || items > 0 || type == COLUMN_TYPE_NOTES;
}

double result_number(const struct result *result, enum column column)
{
    const struct cell *cell = &result->cells[column];
    if (!cell->set) {
        return NAN;
    }
    switch (column_kinds[column].type) {
    case COLUMN_TYPE_REAL:
        return cell->real;
    case COLUMN_TYPE_US:
        return (double)cell->integer / 1e3;
    case COLUMN_TYPE_MS:
        return (double)cell->integer / 1e6;
    default:
        return (double)cell->integer;
    }
}

void result_note(struct result *result, struct note note)
{
    char words[NOTE_WORDS];
    notes_add(&result->notes, &note);
    text_append(result->message, sizeof result->message, "%s%s",
                result->message[0] != '\0' ? "; " : "", note_write(&note, words, sizeof words));
}

const char *result_reason(const struct result *result, char *text, size_t size)
{
    if (result->notes.count > 0) {
        struct note first = notes_at(&result->notes, 0);
        return note_write(&first, text, size);
    }
    text_copy(text, size, result->message);
    return text;
}

void result_drop_notes(struct result *result)
{
    result->notes = (struct notes){.count = 0};
    result->message[0] = '\0';
}

void result_integer(struct result *result, enum column column, int64_t value)
{
    enum column_type type = column_kinds[column].type;
    assert(type == COLUMN_TYPE_INTEGER || type == COLUMN_TYPE_US || type == COLUMN_TYPE_MS);
    result->cells[column] = (struct cell){.set = true, .integer = value};
}

void result_real(struct result *result, enum column column, double value)
{
    assert(column_kinds[column].type == COLUMN_TYPE_REAL);
    result->cells[column] = (struct cell){.set = isfinite(value), .real = value};
}

bool result_text(struct result *result, enum column column, const char *text, struct error *why)
{
    assert(column_kinds[column].type == COLUMN_TYPE_TEXT);
    char *copy = strdup(text);
    if (copy == NULL) {
        return error_set(why, NULL, 0, "out of memory: no room for a result");
    }
    struct cell *cell = &result->cells[column];
    if (cell->set) {
        free(cell->text);
    }
    *cell = (struct cell){.set = true, .text = copy};
    return true;
}
