/* The types are those that the tables declare; JSON texts are those that result/cell.h reads back. */
#include "store/values.h"

#include "result/cell.h"
#include "store/database.h"
#include "store/guard.h"
#include "store/schema.h"

#include <stdio.h>
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
    char table[32];
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

static bool holds_items(enum column column, const char *text)
{
    char names[RESULT_MOST_ITEMS][RESULT_NAME];
    struct result result;
    result_init(&result);
    bool holds = cell_parse(&result, column, text, names);
    result_release(&result);
    return holds;
}

/* The columns of a run that are JSON texts. Those of `runs` begin with those of columns.def. */
static bool check_items(const struct value_rows *rows, struct error *why)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        enum column_type type = column_kinds[i].type;
        bool items = type == COLUMN_TYPE_PARTS || type == COLUMN_TYPE_SHARES ||
                     type == COLUMN_TYPE_BAND || type == COLUMN_TYPE_NOTES;
        const char *text = items ? (const char *)sqlite3_column_text(rows->row, i) : NULL;
        if (text != NULL && !holds_items((enum column)i, text)) {
            return store_values_damaged(rows, i, "malformed JSON", why);
        }
    }
    return true;
}

/* The texts that follow them have a most size each. */
static bool check_texts(const struct value_rows *rows, struct error *why)
{
    for (int i = 0; i < SCHEMA_TEXTS; i++) {
        int size = sqlite3_column_bytes(rows->row, COLUMN_COUNT + i);
        if ((size_t)size >= schema_texts[i].size) {
            return store_values_damaged(rows, COLUMN_COUNT + i, "longer than spillway writes", why);
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

/* Check the rows of "SELECT `what` FROM `table` ...", whose name ends at a blank. */
static bool store_values_check_rows(struct store *store, const char *what, const char *table,
                                    row_check check, struct error *why)
{
    char sql[160];
    struct value_rows rows = {.store = store};
    bool more = true;
    snprintf(rows.table, sizeof rows.table, "%.*s", (int)strcspn(table, " "), table);
    snprintf(sql, sizeof sql, "SELECT %s FROM %s", what, table);
    bool good = database_prepare(store, sql, &rows.row, why);
    while (good && (good = database_step(store, rows.row, &more, why)) && more) {
        good = check(&rows, why);
    }
    sqlite3_finalize(rows.row);
    return good;
}

static bool check_all_types(struct store *store, struct error *why)
{
    const char *table;
    size_t length;
    bool good = true;
    for (size_t i = 0; good && (table = guard_table(i, &length)) != NULL; i++) {
        char name[32];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(table, " "), table);
        good = store_values_check_rows(store, "*", name, check_types, why);
    }
    return good;
}

bool values_check(struct store *store, struct error *why)
{
    static const struct {
        const char *what, *table;
        row_check check;
    } texts[] = {
        {"*", "runs", check_items},
        {"*", "runs", check_texts},
        {"run, scenario", "runs WHERE scenario <> '' AND NOT json_valid(scenario)", check_json},
        {"curve, parameters", "curves WHERE NOT json_valid(parameters)", check_json},
    };
    bool good = check_all_types(store, why);
    for (size_t i = 0; good && i < sizeof texts / sizeof texts[0]; i++) {
        good = store_values_check_rows(store, texts[i].what, texts[i].table, texts[i].check, why);
    }
    return good;
}
