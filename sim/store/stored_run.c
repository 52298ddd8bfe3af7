/* A run in the results file: its row in `runs`, and its rows in other tables, put in one transaction or
 * not at all. What is read back is checked like any input: types, names, numbers. */

#include "store/stored_run.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/text.h"
#include "core/version.h"
#include "predict/result/result.h"
#include "store/database.h"
#include "store/schema.h"

/* ---- putting a row of runs ---- */

static void bind_real(sqlite3_stmt *statement, int at, double value)
{
    if (isnan(value)) {
        sqlite3_bind_null(statement, at);
    } else {
        sqlite3_bind_double(statement, at, value);
    }
}

static void bind_cell(sqlite3_stmt *statement, int at, const struct result *result,
                      const struct column *column)
{
    char buffer[CELL_SIZE];
    if (!result_has(result, column)) {
        sqlite3_bind_null(statement, at);
    } else if (!column_is_number(column)) {
        const char *text = cell_text(result, column, buffer);
        sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT);
    } else if (unit_is_whole(column->unit)) {
        sqlite3_bind_int64(statement, at, result_cell(result, column)->integer);
    } else {
        bind_real(statement, at, result_number(result, column));
    }
}

static void bind_run(sqlite3_stmt *statement, const struct result *result)
{
    int at = 1;
    for (uint32_t i = 0; i < column_count; i++) {
        bind_cell(statement, at++, result, column_rows[i]);
    }
    for (int i = 0; i < SCHEMA_TEXTS; i++) {
        const char *text = (const char *)result + schema_texts[i].offset;
        sqlite3_bind_text(statement, at++, text, -1, SQLITE_STATIC);
    }
    sqlite3_bind_text(statement, at, spillway_program, -1, SQLITE_STATIC);
}

static bool put_run(struct store *store, const struct result *result, bool *added,
                    struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool row, good = database_prepare_own(
                  store, schema_sql(schema_tables, "INSERT OR IGNORE INTO %t(%c) VALUES (%v)", why),
                  &statement, why);
    if (good) {
        bind_run(statement, result);
        good = database_step(store, statement, &row, why);
    }
    *added = good && sqlite3_changes(store->database) > 0;
    sqlite3_finalize(statement);
    return good;
}

/* ---- putting detail ---- */

static void bind_field(sqlite3_stmt *statement, int at, const struct schema_field *field,
                       const struct result *result, const char *row, uint32_t index)
{
    const char *value = row + field->at, *text;
    uint32_t small;
    int64_t whole;
    double real;
    switch (field->as) {
    case AS_KEY:
        break;
    case AS_ROW:
        sqlite3_bind_int64(statement, at, index);
        break;
    case AS_U32:
        memcpy(&small, value, sizeof small);
        sqlite3_bind_int64(statement, at, small);
        break;
    case AS_64:
        memcpy(&whole, value, sizeof whole);
        sqlite3_bind_int64(statement, at, whole);
        break;
    case AS_NS:
        memcpy(&whole, value, sizeof whole);
        bind_real(statement, at, whole < 0 ? NAN : (double)whole / unit_ns(field->unit));
        break;
    case AS_REAL:
        memcpy(&real, value, sizeof real);
        bind_real(statement, at, real);
        break;
    case AS_TEXT:
        memcpy(&text, value, sizeof text);
        sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
        break;
    case AS_NAME:
        sqlite3_bind_text(statement, at, value, -1, SQLITE_STATIC);
        break;
    case AS_RESULTS:
        sqlite3_bind_text(statement, at, (const char *)result + field->at, -1, SQLITE_STATIC);
    }
}

static void bind_detail(sqlite3_stmt *statement, const struct schema_table *table,
                        const struct result *result, const char *row, uint32_t index)
{
    int at = 1;
    for (size_t i = 0; i < table->begins; i++) {
        bind_field(statement, at++, &table->begin[i], result, row, index);
    }
    for (uint32_t i = 0; table->walk != NULL && table->walk(i) != NULL; i++) {
        double real;
        memcpy(&real, row + table->reals + i * sizeof real, sizeof real);
        bind_real(statement, at++, real);
    }
}

static bool put_detail(struct store *store, const struct schema_table *table,
                       const struct result *result, struct error *why)
{
    const char *rows = (const char *)result + table->rows;
    sqlite3_stmt *statement = NULL;
    uint32_t count;
    const char *put = table == schema_draws() ? "INSERT OR IGNORE INTO %t(%c) VALUES (%v)"
                                              : "INSERT INTO %t(%c) VALUES (%v)";
    bool more;
    bool good = database_prepare_own(store, schema_sql(table, put, why), &statement, why);
    memcpy(&count, (const char *)result + table->count, sizeof count);
    if (!table->inside) {
        memcpy(&rows, rows, sizeof rows);
    }
    for (uint32_t i = 0; good && i < count; i++) {
        sqlite3_bind_text(statement, 1, result_cell(result, COLUMN(run))->text, -1, SQLITE_STATIC);
        bind_detail(statement, table, result, rows + i * table->size, i);
        good = database_step(store, statement, &more, why);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return good;
}

/* Replications are added to those of a run that is there already. */
bool store_put(struct store *store, const struct result *result, struct error *why)
{
    assert(result_cell(result, COLUMN(run))->set);
    bool added = false;
    bool good = database_run(store, "BEGIN IMMEDIATE", why) && put_run(store, result, &added, why);
    for (const struct schema_table *table = schema_tables; good && table->name != NULL; table++) {
        bool put = added || table == schema_draws();
        good = table->size == 0 || !put || put_detail(store, table, result, why);
    }
    return database_end(store, good, why);
}

/* ---- reading a row of runs ---- */

static bool run_is_damaged(const struct store *store, const char *run, const char *what,
                           struct error *why)
{
    return error_set(why, store->path, 0, "run %s is damaged: %s", run, what);
}

/* SQLite lets a column hold a value of any type, and a file declare another type, or none. */
static bool holds_own_type(sqlite3_stmt *row, const struct schema_table *table, int at)
{
    const char *declared;
    schema_column(table, (size_t)at, &declared);
    int found = sqlite3_column_type(row, at), own = declared[0] == 'T'   ? SQLITE_TEXT
                                                    : declared[0] == 'I' ? SQLITE_INTEGER
                                                                         : SQLITE_FLOAT;
    return found == SQLITE_NULL || found == own;
}

/* The items of parts_us, stalls_us and basis_share keep their names side by side. */
static char (*names_of(struct result *result, const struct column *column))[RESULT_NAME]
{
    int list = column == COLUMN(parts_us) ? 0 : column == COLUMN(stalls_us) ? 1 : 2;
    return result->names + list * RESULT_MOST_ITEMS;
}

/* Read a number, or JSON, that is not null and of its column's type. */
static bool run_read_cell(sqlite3_stmt *row, int at, const struct column *column,
                          struct result *result)
{
    double number = sqlite3_column_double(row, at), scale = unit_ns(column->unit);
    int64_t whole = sqlite3_column_int64(row, at);
    if (column->holds != HOLDS_VALUE) {
        const char *text = (const char *)sqlite3_column_text(row, at);
        return cell_parse(result, column, text, names_of(result, column));
    }
    if (!column_is_integer(column)) {
        result_real(result, column, number);
        return true;
    }
    if (scale > 0 && !cell_read_ns(number, scale, &whole)) {
        return false;
    }
    result_integer(result, column, whole);
    return true;
}

static bool read_column(const struct store *store, sqlite3_stmt *row, int at, const char *run,
                        struct result *result, struct error *why)
{
    const struct column *column = column_rows[at];
    if (sqlite3_column_type(row, at) == SQLITE_NULL) {
        return true;
    }
    if (!holds_own_type(row, schema_tables, at)) {
        return run_is_damaged(store, run, column->name, why);
    }
    if (column_is_text(column)) {
        return result_text(result, column, (const char *)sqlite3_column_text(row, at), why);
    }
    return run_read_cell(row, at, column, result) || run_is_damaged(store, run, column->name, why);
}

static bool read_texts(sqlite3_stmt *row, struct result *result)
{
    for (int i = 0; i < SCHEMA_TEXTS; i++) {
        const struct schema_text *text = &schema_texts[i];
        const char *value = (const char *)sqlite3_column_text(row, (int)column_count + i);
        if (value == NULL || strlen(value) >= text->size) {
            return false;
        }
        memcpy((char *)result + text->offset, value, strlen(value) + 1);
    }
    return true;
}

static bool read_run(const struct store *store, sqlite3_stmt *row, const char *run,
                     struct result *result, struct error *why)
{
    for (uint32_t i = 0; i < column_count; i++) {
        if (!read_column(store, row, (int)i, run, result, why)) {
            return false;
        }
    }
    return read_texts(row, result) || run_is_damaged(store, run, "its texts", why);
}

static bool get_run(struct store *store, const char *run, struct result *result, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    bool good = database_prepare_own(
        store, schema_sql(schema_tables, "SELECT %c FROM %t WHERE run = ?", why), &statement, why);
    if (good) {
        sqlite3_bind_text(statement, 1, run, -1, SQLITE_STATIC);
        good = database_step(store, statement, &row, why) &&
               (row || error_set(why, store->path, 0, "holds no run '%s'", run)) &&
               read_run(store, statement, run, result, why);
    }
    sqlite3_finalize(statement);
    return good;
}

/* ---- reading detail ---- */

/* The figures of one row behind the table's first columns; false if one is of another type. */
static bool read_reals(sqlite3_stmt *row, const struct schema_table *table, double *values)
{
    bool good = true;
    for (uint32_t i = 0; good && table->walk(i) != NULL; i++) {
        int at = (int)(table->begins + i);
        good = holds_own_type(row, table, at);
        bool null = sqlite3_column_type(row, at) == SQLITE_NULL;
        values[i] = null ? (double)NAN : sqlite3_column_double(row, at);
    }
    return good;
}

static bool get_families(struct store *store, const char *run, struct result *result,
                         struct error *why)
{
    static const char own[] = "SELECT %c FROM %t WHERE run = ? ORDER BY place";
    const struct schema_table *table = schema_find("families");
    sqlite3_stmt *row = NULL;
    bool more = false;
    bool good = database_prepare_own(store, schema_sql(table, own, why), &row, why);
    if (good) {
        sqlite3_bind_text(row, 1, run, -1, SQLITE_STATIC);
    }
    while (good && (good = database_step(store, row, &more, why)) && more) {
        struct result_family *family = &result->families[result->family_count];
        const char *name = (const char *)sqlite3_column_text(row, 2);
        good = (result->family_count < RESULT_MOST_FAMILIES && name != NULL &&
                strlen(name) < RESULT_NAME && read_reals(row, table, family->values)) ||
               run_is_damaged(store, run, table->name, why);
        if (good) {
            strcpy(family->name, name);
            result->family_count++;
        }
    }
    sqlite3_finalize(row);
    return good;
}

bool store_get(struct store *store, const char *run, struct result *result, struct error *why)
{
    result_init(result);
    result->names = array_zeroed(3 * RESULT_MOST_ITEMS, sizeof *result->names, why);
    bool good = result->names != NULL && get_run(store, run, result, why) &&
                get_families(store, run, result, why);
    if (!good) {
        result_release(result);
    }
    return good;
}

/* ---- replications ---- */

bool store_get_draws(struct store *store, const char *run, struct result_draws *draws,
                     struct error *why)
{
    static const char own[] = "SELECT %c FROM %t WHERE run = ? AND ranges = ? ORDER BY replication";
    const struct schema_table *table = schema_draws();
    sqlite3_stmt *row = NULL;
    size_t capacity = 0;
    bool more = false;
    draws->values = NULL;
    draws->count = 0;
    bool good = database_prepare_own(store, schema_sql(table, own, why), &row, why);
    if (good) {
        sqlite3_bind_text(row, 1, run, -1, SQLITE_STATIC);
        sqlite3_bind_text(row, 2, draws->ranges, -1, SQLITE_STATIC);
    }
    while (good && (good = database_step(store, row, &more, why)) && more &&
           sqlite3_column_int64(row, 2) == draws->count) {
        good = array_reserve(&draws->values, &capacity, draws->count + 1U, sizeof *draws->values,
                             why) &&
               (read_reals(row, table, draws->values[draws->count]) ||
                run_is_damaged(store, run, table->name, why));
        draws->count += good;
    }
    sqlite3_finalize(row);
    if (!good) {
        free(draws->values);
        draws->values = NULL;
        draws->count = 0;
    }
    return good;
}

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
    if (schema_find(of->table)->ends > 0) { /* the program's name */
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
    const struct schema_table *table = schema_find(of->table);
    char *insert = schema_sql(table, "INSERT OR REPLACE INTO %t(%c) VALUES (%v)", why);
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
