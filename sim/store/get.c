/* Reads a run back. The contents of the file are checked like any input: types, names, numbers. */
#include "store/store.h"

#include "base/array.h"
#include "result/cell.h"
#include "store/database.h"
#include "store/schema.h"
#include "store/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The SQLite type in which put.c stores a cell. */
static int stored_type(enum column_type type)
{
    switch (type) {
    case COLUMN_TYPE_INTEGER:
        return SQLITE_INTEGER;
    case COLUMN_TYPE_REAL:
    case COLUMN_TYPE_US:
    case COLUMN_TYPE_MS:
        return SQLITE_FLOAT;
    default:
        return SQLITE_TEXT;
    }
}

static bool store_get_damaged(const struct store *store, const char *run, const char *what,
                              struct error *why)
{
    return error_set(why, store->path, 0, "run %s is damaged: %s", run, what);
}

/* The items of PARTS, STALLS and BASIS_SHARE keep their names side by side in `names`. */
static char (*names_of(struct result *result, enum column column))[RESULT_NAME]
{
    int list = column == COLUMN_PARTS ? 0 : column == COLUMN_STALLS ? 1 : 2;
    return result->names + list * RESULT_MOST_ITEMS;
}

/* Read a value that is not null and has its stored type; texts are read elsewhere. */
static bool store_get_read_value(sqlite3_stmt *row, enum column column, struct result *result)
{
    int at = (int)column;
    int64_t ns;
    switch (column_kinds[column].type) {
    case COLUMN_TYPE_INTEGER:
        result_integer(result, column, sqlite3_column_int64(row, at));
        return true;
    case COLUMN_TYPE_REAL:
        result_real(result, column, sqlite3_column_double(row, at));
        return true;
    case COLUMN_TYPE_US:
    case COLUMN_TYPE_MS: {
        double scale = column_kinds[column].type == COLUMN_TYPE_US ? 1e3 : 1e6;
        if (!cell_read_ns(sqlite3_column_double(row, at), scale, &ns)) {
            return false;
        }
        result_integer(result, column, ns);
        return true;
    }
    default:
        return cell_parse(result, column, (const char *)sqlite3_column_text(row, at),
                          names_of(result, column));
    }
}

static bool store_get_read_column(const struct store *store, sqlite3_stmt *row, enum column column,
                                  const char *run, struct result *result, struct error *why)
{
    enum column_type type = column_kinds[column].type;
    int found = sqlite3_column_type(row, (int)column);
    if (found == SQLITE_NULL) {
        return true;
    }
    if (found == SQLITE_TEXT && type == COLUMN_TYPE_TEXT) {
        return result_text(result, column, (const char *)sqlite3_column_text(row, (int)column),
                           why);
    }
    return (found == stored_type(type) && store_get_read_value(row, column, result)) ||
           store_get_damaged(store, run, column_kinds[column].name, why);
}

static bool read_texts(sqlite3_stmt *row, struct result *result)
{
    for (int i = 0; i < SCHEMA_TEXTS; i++) {
        const struct schema_text *text = &schema_texts[i];
        const char *value = (const char *)sqlite3_column_text(row, COLUMN_COUNT + i);
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
    for (int column = 0; column < COLUMN_COUNT; column++) {
        if (!store_get_read_column(store, row, (enum column)column, run, result, why)) {
            return false;
        }
    }
    return read_texts(row, result) || store_get_damaged(store, run, "its texts", why);
}

static double store_get_read_share(sqlite3_stmt *row, int column)
{
    bool null = sqlite3_column_type(row, column) == SQLITE_NULL;
    return null ? NAN : sqlite3_column_double(row, column);
}

static bool read_detail(sqlite3_stmt *row, struct result_step *out)
{
    for (int i = 0; i < sqlite3_column_count(row); i++) {
        if (values_fault(row, i) != NULL) {
            return false;
        }
    }
    out->hit_ratio = store_get_read_share(row, 1);
    out->in_bytes = sqlite3_column_int64(row, 2);
    out->mass_recall = store_get_read_share(row, 3);
    return cell_read_ns(sqlite3_column_double(row, 0), 1e3, &out->ns);
}

/* Layers have the fields of steps but the mass, and are read as steps. */
static bool get_detail(struct store *store, const char *sql, const char *run,
                       struct result_step **rows, uint32_t *count, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    size_t capacity = 0;
    bool row = false;
    bool ok = database_prepare(store, sql, &statement, why);
    if (ok) {
        sqlite3_bind_text(statement, 1, run, -1, SQLITE_STATIC);
    }
    while (ok && (ok = database_step(store, statement, &row, why)) && row) {
        ok = array_reserve(rows, &capacity, *count + 1U, sizeof **rows, why) &&
             (read_detail(statement, &(*rows)[*count]) ||
              store_get_damaged(store, run, "its layers or steps", why));
        *count += ok;
    }
    sqlite3_finalize(statement);
    return ok;
}

static bool get_steps(struct store *store, const char *run, struct result *result,
                      struct error *why)
{
    return get_detail(
        store,
        "SELECT us, hit_ratio, h2d_bytes, mass_recall FROM steps WHERE run = ? ORDER BY step", run,
        &result->steps, &result->step_count, why);
}

static bool get_layers(struct store *store, const char *run, struct result *result,
                       struct error *why)
{
    struct result_step *rows = NULL;
    uint32_t count = 0;
    bool ok =
        get_detail(store,
                   "SELECT us, hit_ratio, h2d_bytes, NULL FROM layers WHERE run = ? ORDER BY layer",
                   run, &rows, &count, why) &&
        (result->layers = array_zeroed(count, sizeof *result->layers, why)) != NULL;
    for (uint32_t i = 0; ok && i < count; i++) {
        result->layers[i] = (struct result_layer){rows[i].ns, rows[i].hit_ratio, rows[i].in_bytes};
        result->layer_count = i + 1;
    }
    free(rows);
    return ok;
}

static const char select_families[] = "SELECT family"
#define COLUMN(id, name, type, what)
#define RANGED(id, name, type, what) ", " name
#include "result/columns.def"
#undef COLUMN
                                      " FROM families WHERE run = ? ORDER BY place";

static bool read_family(sqlite3_stmt *row, struct result *result)
{
    const char *name = (const char *)sqlite3_column_text(row, 0);
    if (name == NULL || strlen(name) >= RESULT_NAME ||
        result->family_count == RESULT_MOST_FAMILIES) {
        return false;
    }
    struct result_family *family = &result->families[result->family_count++];
    memcpy(family->name, name, strlen(name) + 1);
    for (int i = 0; i < RANGE_COUNT; i++) {
        int type = sqlite3_column_type(row, 1 + i);
        if (type != SQLITE_NULL && type != SQLITE_FLOAT) {
            return false;
        }
        family->values[i] = type == SQLITE_NULL ? NAN : sqlite3_column_double(row, 1 + i);
    }
    return true;
}

static bool get_families(struct store *store, const char *run, struct result *result,
                         struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    bool ok = database_prepare(store, select_families, &statement, why);
    if (ok) {
        sqlite3_bind_text(statement, 1, run, -1, SQLITE_STATIC);
    }
    while (ok && (ok = database_step(store, statement, &row, why)) && row) {
        ok = read_family(statement, result) || store_get_damaged(store, run, "its families", why);
    }
    sqlite3_finalize(statement);
    return ok;
}

/* SELECT run, ..., error_band, scenario_hash, ...: read_run() relies on this order. */
static const char select_run[] =
    "SELECT "
#define COLUMN(id, name, type, what) name ", "
#include "result/columns.def"
#undef COLUMN
    "scenario_hash, trace_hash, profile_hash, plan_hash, scenario, message FROM runs WHERE run = ?";

static bool get_run(struct store *store, const char *run, struct result *result, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    bool ok = database_prepare(store, select_run, &statement, why);
    if (ok) {
        sqlite3_bind_text(statement, 1, run, -1, SQLITE_STATIC);
        ok = database_step(store, statement, &row, why) &&
             (row || error_set(why, store->path, 0, "holds no run '%s'", run)) &&
             read_run(store, statement, run, result, why);
    }
    sqlite3_finalize(statement);
    return ok;
}

bool store_get(struct store *store, const char *run, struct result *result, struct error *why)
{
    result_init(result);
    result->names = array_zeroed(3 * RESULT_MOST_ITEMS, sizeof *result->names, why);
    bool ok = result->names != NULL && get_run(store, run, result, why) &&
              get_steps(store, run, result, why) && get_layers(store, run, result, why) &&
              get_families(store, run, result, why);
    if (!ok) {
        result_release(result);
    }
    return ok;
}
