/* The types are those that the tables declare; JSON texts are those that predict/result/cell.h reads back. */
#include "store/values.h"

#include "predict/result/cell.h"
#include "store/database.h"
#include "store/schema.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST_TEXT = 1 << 16 }; /* bytes: more than any text of a cell */

/* ---- types ---- */

const char *values_fault(sqlite3_stmt *row, int column)
{
    static const struct {
        const char *declared;
        int type;
    } types[] = {{"TEXT", SQLITE_TEXT}, {"INTEGER", SQLITE_INTEGER}, {"REAL", SQLITE_FLOAT}};
    static const char *const names[] = {[SQLITE_INTEGER] = "an integer",
                                        [SQLITE_FLOAT] = "a number",
                                        [SQLITE_TEXT] = "a text",
                                        [SQLITE_BLOB] = "a blob"};
    const char *declared = sqlite3_column_decltype(row, column);
    int found = sqlite3_column_type(row, column);
    for (size_t i = 0; declared != NULL && i < sizeof types / sizeof types[0]; i++) {
        if (found != SQLITE_NULL && found != types[i].type &&
            strcmp(types[i].declared, declared) == 0) {
            return names[found];
        }
    }
    bool longer = found == SQLITE_TEXT && sqlite3_column_bytes(row, column) > LONGEST_TEXT;
    return longer ? "a text of more than 64 KiB" : NULL;
}

/* Rows of a table that are looked at. */
struct value_rows {
    const struct store *store;
    const char *table;
    sqlite3_stmt *row; /* the current one */
};

/* A row is that of a run, a curve, ...: the name of its first column. */
static bool store_values_damaged(const struct value_rows *rows, int column, const char *fault,
                                 struct error *why)
{
    const char *key = (const char *)sqlite3_column_text(rows->row, 0);
    return error_set(why, rows->store->path, 0, "%s %.40s is damaged: '%s' in table '%s' is %s",
                     sqlite3_column_name(rows->row, 0), key != NULL ? key : "",
                     sqlite3_column_name(rows->row, column), rows->table, fault);
}

static bool check_types(const struct value_rows *rows, struct error *why)
{
    for (int i = 0; i < sqlite3_column_count(rows->row); i++) {
        const char *fault = values_fault(rows->row, i);
        if (fault != NULL) {
            return store_values_damaged(rows, i, fault, why);
        }
    }
    return true;
}

/* ---- texts ---- */

static bool holds_items(const struct column *column, const char *text)
{
    char names[RESULT_MOST_ITEMS][RESULT_NAME];
    struct result result;
    result_init(&result);
    bool holds = cell_parse(&result, column, text, names);
    result_release(&result);
    return holds;
}

/* The columns of a run that are JSON texts, and the texts behind them, which have a most size each. */
static bool check_run(const struct value_rows *rows, struct error *why)
{
    for (int i = 0; i < (int)column_count; i++) {
        const char *text = column_rows[i]->holds != HOLDS_VALUE
                               ? (const char *)sqlite3_column_text(rows->row, i)
                               : NULL;
        if (text != NULL && !holds_items(column_rows[i], text)) {
            return store_values_damaged(rows, i, "malformed JSON", why);
        }
    }
    for (int i = 0; i < SCHEMA_TEXTS; i++) {
        int at = (int)column_count + i;
        if ((size_t)sqlite3_column_bytes(rows->row, at) >= schema_texts[i].size) {
            return store_values_damaged(rows, at, "longer than spillway writes", why);
        }
    }
    return true;
}

static bool check_json(const struct value_rows *rows, struct error *why)
{
    return store_values_damaged(rows, 1, "malformed JSON", why);
}

/* ---- all tables ---- */

typedef bool (*row_check)(const struct value_rows *rows, struct error *why);

/* Check each row of `sql`, which is on the heap, of a table. */
static bool store_values_check_rows(struct store *store, char *sql, const char *table,
                                    row_check check, struct error *why)
{
    struct value_rows rows = {.store = store, .table = table};
    bool more = true;
    bool good = database_prepare_own(store, sql, &rows.row, why);
    while (good && (good = database_step(store, rows.row, &more, why)) && more) {
        good = check(&rows, why);
    }
    sqlite3_finalize(rows.row);
    return good;
}

static bool check_texts(struct store *store, const char *sql, const char *table, struct error *why)
{
    char *copy = strdup(sql);
    return copy != NULL ? store_values_check_rows(store, copy, table, check_json, why)
                        : error_set(why, store->path, 0, "out of memory");
}

bool values_check(struct store *store, struct error *why)
{
    bool good = true;
    for (const struct schema_table *table = schema_tables; good && table->name != NULL; table++) {
        good = store_values_check_rows(store, schema_select(table, "", why), table->name,
                                       check_types, why);
    }
    return good &&
           store_values_check_rows(store, schema_select(schema_tables, "", why), "runs", check_run,
                                   why) &&
           check_texts(store,
                       "SELECT run, scenario FROM runs"
                       " WHERE scenario <> '' AND NOT json_valid(scenario)",
                       "runs", why) &&
           check_texts(store,
                       "SELECT curve, parameters FROM curves WHERE NOT json_valid(parameters)",
                       "curves", why);
}
