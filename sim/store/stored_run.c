/* A run in the results file: its rows, put in one transaction, and checked like any input when read back. */

#include "store/stored_run.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "core/version.h"
#include "store/database.h"
#include "store/schema.h"

/* ---- putting a run ---- */

static void bind_number(sqlite3_stmt *statement, int at, enum unit unit, double value)
{
    if (isnan(value)) {
        sqlite3_bind_null(statement, at);
    } else if (unit_is_whole(unit)) {
        sqlite3_bind_int64(statement, at, llround(value));
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
        bind_number(statement, at, column->unit, result_number(result, column));
    }
}

static void bind_field(sqlite3_stmt *statement, int at, const struct schema_field *field,
                       const struct result *result, const char *row, uint32_t index)
{
    const char *value = row + field->at, *text = value;
    uint32_t small;
    int64_t whole;
    double real;
    switch (field->as) {
    case AS_KEY:
        return;
    case AS_ROW:
        sqlite3_bind_int64(statement, at, index);
        return;
    case AS_U32:
        memcpy(&small, value, sizeof small);
        sqlite3_bind_int64(statement, at, small);
        return;
    case AS_64:
        memcpy(&whole, value, sizeof whole);
        sqlite3_bind_int64(statement, at, whole);
        return;
    case AS_NS:
        memcpy(&whole, value, sizeof whole);
        bind_number(statement, at, field->unit,
                    whole < 0 ? NAN : (double)whole / unit_kinds[field->unit].ns);
        return;
    case AS_REAL:
        memcpy(&real, value, sizeof real);
        bind_number(statement, at, field->unit, real);
        return;
    case AS_TEXT:
        memcpy(&text, value, sizeof text);
        break;
    case AS_NAME:
        break;
    case AS_RUN:
        text = result_cell(result, COLUMN(run))->text;
        break;
    case AS_PROGRAM:
        text = spillway_program;
        break;
    case AS_RESULTS:
        text = (const char *)result + field->at;
    }
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

/* The rows that a result has of a table. */
struct result_rows {
    const struct schema_table *table;
    const struct result *result;
    const char *first;
};

static void bind_result_row(sqlite3_stmt *statement, const void *rows, uint32_t index)
{
    const struct result_rows *of = rows;
    const struct schema_table *table = of->table;
    const struct column *column;
    const char *row = of->first + index * table->size;
    int at = 1;
    for (size_t i = 0; i < table->begins; i++) {
        bind_field(statement, at++, &table->begin[i], of->result, row, index);
    }
    for (uint32_t i = 0; table->walk != NULL && (column = table->walk(i)) != NULL; i++) {
        double real;
        if (table == schema_tables) {
            bind_cell(statement, at++, of->result, column);
        } else {
            memcpy(&real, row + table->reals + i * sizeof real, sizeof real);
            bind_number(statement, at++, UNIT_COUNT, real);
        }
    }
    for (size_t i = 0; i < table->ends; i++) {
        bind_field(statement, at++, &table->end[i], of->result, row, index);
    }
}

/* A run and replications that are there already stay. */
static bool put_result_rows(struct store *store, const struct schema_table *table,
                            const struct result *result, struct error *why)
{
    struct result_rows rows = {table, result, (const char *)result + table->rows};
    bool again = table == schema_tables || table == schema_find("replications");
    char *put = schema_sql(
        table,
        again ? "INSERT OR IGNORE INTO %t(%c) VALUES (%v)" : "INSERT INTO %t(%c) VALUES (%v)", why);
    uint32_t count = 1; /* of `runs` */
    if (table != schema_tables) {
        memcpy(&count, (const char *)result + table->count, sizeof count);
    }
    if (table != schema_tables && !table->inside) {
        memcpy(&rows.first, rows.first, sizeof rows.first);
    }
    bool good = put != NULL && database_put_each(store, put, bind_result_row, &rows, count, why);
    free(put);
    return good;
}

/* Replications are added to those of a run that is there already. */
bool store_put(struct store *store, const struct result *result, struct error *why)
{
    assert(result_cell(result, COLUMN(run))->set);
    bool good = database_run(store, "BEGIN IMMEDIATE", why) &&
                put_result_rows(store, schema_tables, result, why);
    bool added = good && sqlite3_changes(store->database) > 0;
    for (const struct schema_table *table = schema_tables; good && table->name != NULL; table++) {
        bool put = table->size > 0 && (added || table == schema_find("replications")) &&
                   (table->walk != NULL || !store->spares_detail);
        good = !put || put_result_rows(store, table, result, why);
    }
    return database_end(store, good, why);
}

/* ---- reading ---- */

/* What is read of a run. */
struct reading {
    struct store *store;
    const struct schema_table *table;
    const char *run;
    struct result *result;
    struct result_draws *draws;
    size_t capacity; /* of the draws */
    struct error *why;
};

static bool is_damaged(const struct reading *reading, const char *what)
{
    return error_set(reading->why, reading->store->path, 0, "run %s is damaged: %s", reading->run,
                     what);
}

/* Hand each row of a table of the run to `read`. `rest` ends the statement; `ranges`: its second value. */
static bool each_row(struct reading *reading, const char *table, const char *rest,
                     const char *ranges, bool (*read)(struct reading *, sqlite3_stmt *row))
{
    char format[96];
    struct store *store = reading->store;
    sqlite3_stmt *row = NULL;
    bool more = false;
    reading->table = schema_find(table);
    snprintf(format, sizeof format, "SELECT %%c FROM %%t WHERE run = ?1%s", rest);
    bool good = database_prepare_own(store, schema_sql(reading->table, format, reading->why), &row,
                                     reading->why);
    if (good) {
        sqlite3_bind_text(row, 1, reading->run, -1, SQLITE_STATIC);
    }
    if (good && ranges != NULL) {
        sqlite3_bind_text(row, 2, ranges, -1, SQLITE_STATIC);
    }
    while (good && (good = database_step(store, row, &more, reading->why)) && more) {
        good = read(reading, row);
    }
    sqlite3_finalize(row);
    return good;
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

/* Read a number, or JSON, that is not null and of its column's type. */
static bool run_read_cell(sqlite3_stmt *row, int at, const struct column *column,
                          struct result *result)
{
    double number = sqlite3_column_double(row, at), scale = unit_kinds[column->unit].ns;
    int64_t whole = sqlite3_column_int64(row, at);
    if (column->holds != HOLDS_VALUE) {
        const char *text = (const char *)sqlite3_column_text(row, at);
        /* The items of parts_us, stalls_us and basis_share keep their names side by side. */
        int list = column == COLUMN(parts_us) ? 0 : column == COLUMN(stalls_us) ? 1 : 2;
        return cell_parse(result, column, text, result->names + list * RESULT_MOST_ITEMS);
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

static bool read_run(struct reading *reading, sqlite3_stmt *row)
{
    bool good = true;
    for (uint32_t i = 0; good && i < column_count; i++) {
        const struct column *column = column_rows[i];
        bool own = holds_own_type(row, schema_tables, (int)i);
        if (sqlite3_column_type(row, (int)i) == SQLITE_NULL) {
            continue;
        }
        if (own && column_is_text(column)) {
            const char *text = (const char *)sqlite3_column_text(row, (int)i);
            good = result_text(reading->result, column, text, reading->why);
        } else {
            good = (own && run_read_cell(row, (int)i, column, reading->result)) ||
                   is_damaged(reading, column->name);
        }
    }
    for (size_t i = 0; good && i < schema_tables->ends; i++) {
        const struct schema_field *field = &schema_tables->end[i];
        const char *value = (const char *)sqlite3_column_text(row, (int)(column_count + i));
        if (field->as == AS_RESULTS) {
            good =
                (value != NULL && strlen(value) < field->size) || is_damaged(reading, "its texts");
            strcpy((char *)reading->result + field->at, good ? value : "");
        }
    }
    return good;
}

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

static bool read_family(struct reading *reading, sqlite3_stmt *row)
{
    struct result *result = reading->result;
    struct result_family *family = &result->families[result->family_count];
    const char *name = (const char *)sqlite3_column_text(row, 2);
    if (result->family_count == RESULT_MOST_FAMILIES || name == NULL ||
        strlen(name) >= RESULT_NAME || !read_reals(row, reading->table, family->values)) {
        return is_damaged(reading, reading->table->name);
    }
    strcpy(family->name, name);
    result->family_count++;
    return true;
}

bool store_get(struct store *store, const char *run, struct result *result, struct error *why)
{
    struct reading reading = {.store = store, .run = run, .result = result, .why = why};
    result_init(result);
    result->names = array_zeroed(3 * RESULT_MOST_ITEMS, sizeof *result->names, why);
    bool good = result->names != NULL && each_row(&reading, "runs", "", NULL, read_run) &&
                (result_cell(result, COLUMN(run))->set ||
                 error_set(why, store->path, 0, "holds no run '%s'", run)) &&
                each_row(&reading, "families", " ORDER BY place", NULL, read_family);
    if (!good) {
        result_release(result);
    }
    return good;
}

/* What follows a gap is no draw of the run. */
static bool read_draw(struct reading *reading, sqlite3_stmt *row)
{
    struct result_draws *draws = reading->draws;
    if (sqlite3_column_int64(row, 2) != draws->count) {
        return true;
    }
    if (!array_reserve(&draws->values, &reading->capacity, draws->count + 1U, sizeof *draws->values,
                       reading->why)) {
        return false;
    }
    return read_reals(row, reading->table, draws->values[draws->count++]) ||
           is_damaged(reading, reading->table->name);
}

bool store_get_draws(struct store *store, const char *run, struct result_draws *draws,
                     struct error *why)
{
    struct reading reading = {.store = store, .run = run, .draws = draws, .why = why};
    draws->values = NULL;
    draws->count = 0;
    bool good = each_row(&reading, "replications", " AND ranges = ?2 ORDER BY replication",
                         draws->ranges, read_draw);
    if (!good) {
        free(draws->values);
        draws->values = NULL;
        draws->count = 0;
    }
    return good;
}

/* ---- studies ---- */

static void bind_frame_row(sqlite3_stmt *statement, const void *rows, uint32_t index)
{
    const struct store_frame *of = rows;
    const struct frame *frame = of->frame;
    const struct schema_table *table = schema_find(of->table);
    int at = 1;
    for (uint32_t i = 0; i < frame->column_count; i++) {
        const struct frame_column *column = &frame->columns[i];
        const struct frame_cell *cell = &frame->cells[(size_t)index * frame->column_count + i];
        bool ranged = cell->set && cell->low < cell->high;
        if (column->key == NULL) {
            continue;
        }
        if (cell->text != NULL) {
            sqlite3_bind_text(statement, at++, cell->text, -1, SQLITE_STATIC);
        } else {
            bind_number(statement, at++, column->unit, cell->set ? cell->value : NAN);
        }
        if (column->ranged) {
            bind_number(statement, at++, column->unit, ranged ? cell->low : NAN);
            bind_number(statement, at++, column->unit, ranged ? cell->high : NAN);
        }
    }
    if (table->ends > 0) {
        bind_field(statement, at, table->end, NULL, NULL, 0);
    }
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
        const struct store_frame *of = &frames[i];
        char *put =
            schema_sql(schema_find(of->table), "INSERT OR REPLACE INTO %t(%c) VALUES (%v)", why);
        good = put != NULL &&
               database_put_each(store, put, bind_frame_row, of, of->frame->row_count, why);
        free(put);
    }
    return database_end(store, good, why);
}
