#include "store/store_frame.h"

#include "core/text.h"
#include "core/version.h"
#include "store/database.h"
#include "store/schema.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a row ---- */

static void store_frame_bind_number(sqlite3_stmt *statement, int at, enum unit unit, double value)
{
    if (isnan(value)) {
        sqlite3_bind_null(statement, at);
    } else if (unit_is_whole(unit)) {
        sqlite3_bind_int64(statement, at, llround(value));
    } else {
        sqlite3_bind_double(statement, at, value);
    }
}

static void store_frame_bind_cell(sqlite3_stmt *statement, int at,
                                  const struct frame_column *column, const struct frame_cell *cell)
{
    if (cell->text != NULL) {
        sqlite3_bind_text(statement, at, cell->text, -1, SQLITE_STATIC);
    } else {
        store_frame_bind_number(statement, at, column->unit, cell->set ? cell->value : NAN);
    }
}

static void store_frame_bind_row(sqlite3_stmt *statement, const void *rows, uint32_t index)
{
    const struct store_frame *of = rows;
    const struct frame *frame = of->frame;
    const struct frame_cell *cells = &frame->cells[(size_t)index * frame->column_count];
    int at = 0;
    for (uint32_t i = 0; i < frame->column_count; i++) {
        const struct frame_column *column = &frame->columns[i];
        const struct frame_cell *cell = &cells[i];
        bool ranged = cell->set && cell->low < cell->high;
        if (column->key == NULL) {
            continue;
        }
        store_frame_bind_cell(statement, ++at, column, cell);
        if (column->ranged) {
            store_frame_bind_number(statement, ++at, column->unit, ranged ? cell->low : NAN);
            store_frame_bind_number(statement, ++at, column->unit, ranged ? cell->high : NAN);
        }
    }
    if (!of->is_nameless) {
        sqlite3_bind_text(statement, ++at, spillway_program, -1, SQLITE_STATIC);
    }
}

static void bind_whole(sqlite3_stmt *statement, const void *rows, uint32_t index)
{
    const struct store_frame *of = rows;
    const struct frame *frame = of->frame;
    for (uint32_t i = 0; i < frame->column_count; i++) {
        const char *key = frame->columns[i].key;
        if (key != NULL && strcmp(key, of->whole) == 0) {
            store_frame_bind_cell(statement, 1, &frame->columns[i],
                                  &frame->cells[(size_t)index * frame->column_count + i]);
        }
    }
}

/* ---- a table ---- */

static bool remove_whole(struct store *store, const struct store_frame *of, struct error *why)
{
    char remove[256] = "";
    if (of->whole == NULL) {
        return true;
    }
    text_append(remove, sizeof remove, "DELETE FROM %s WHERE %s = ?", of->table, of->whole);
    return database_put_each(store, remove, bind_whole, of, of->frame->row_count, why);
}

static bool put_frame(struct store *store, const struct store_frame *of, struct error *why)
{
    const struct schema_table *table = schema_find(of->table, strlen(of->table));
    char *insert = schema_insert(table, "INSERT OR REPLACE", why);
    bool good =
        insert != NULL && remove_whole(store, of, why) &&
        database_put_each(store, insert, store_frame_bind_row, of, of->frame->row_count, why);
    free(insert);
    return good;
}

bool store_put_frames(struct store *store, const struct store_frame *frames, uint32_t count,
                      struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < count; i++) {
        good = frame_ok(frames[i].frame, why);
    }
    good = good && database_run(store, "BEGIN IMMEDIATE", why);
    for (uint32_t i = 0; good && i < count; i++) {
        good = put_frame(store, &frames[i], why);
    }
    return database_end(store, good, why);
}
