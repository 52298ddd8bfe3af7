/* SQLite keeps the statement that made an object as it was written, from its name on. A table's
 * statement is "CREATE TABLE NAME ...", a virtual table's begins otherwise; the index of a PRIMARY
 * KEY has no statement. */

#include "store/guard.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "predict/result/cell.h"
#include "store/database.h"
#include "store/schema.h"

#define LONGEST (1 << 26) /* bytes of a text: far more than the largest table of a report */

static const char made[] = "CREATE TABLE ";

void guard_begin(struct store *store)
{
    static const struct {
        int option, value;
    } settings[] = {
        {SQLITE_DBCONFIG_DEFENSIVE, 1},   {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
        {SQLITE_DBCONFIG_ENABLE_VIEW, 0}, {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
        {SQLITE_DBCONFIG_ENABLE_FKEY, 0},
    };
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        sqlite3_db_config(store->database, settings[i].option, settings[i].value, NULL);
    }
    sqlite3_limit(store->database, SQLITE_LIMIT_LENGTH, LONGEST);
    sqlite3_limit(store->database, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_exec(store->database, "PRAGMA cell_size_check = 1", NULL, NULL, NULL);
}

/* ---- what the file holds ---- */

/* A row of sqlite_schema; "" for a null. */
struct object {
    const char *type, *name, *table, *sql;
};

static bool guard_refuse(const struct store *store, const char *type, const struct object *object,
                         struct error *why)
{
    bool on = strcmp(object->table, object->name) != 0;
    error_set(why, store->path, 0, "holds the %s '%.60s'%s%.60s%s, which spillway did not make",
              type, object->name, on ? " on '" : "", on ? object->table : "", on ? "'" : "");
    return error_expect(why, "spillway's tables as it makes them, and plain tables beside them");
}

/* The type of a column of the table; NULL: this version has none of that name. */
static const char *own_type(const struct schema_table *table, const char *name, size_t length)
{
    const char *own, *type;
    for (size_t i = 0; (own = schema_column(table, i, &type)) != NULL; i++) {
        if (strlen(own) == length && sqlite3_strnicmp(own, name, (int)length) == 0) {
            return type;
        }
    }
    return NULL;
}

/* Read "NAME TYPE," with nothing else, of the type that the column has here. Columns that only
 * another version has are plain, too. Returns what follows; NULL: it is another text. */
static const char *read_plain_column(const struct schema_table *table, const char *at)
{
    static const char word[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    static const char *const types[] = {"TEXT", "INTEGER", "REAL"};
    size_t length = strspn(at, word);
    const char *declared = at + length + 1, *own = own_type(table, at, length);
    for (size_t i = 0; length > 0 && at[length] == ' ' && i < 3; i++) {
        size_t size = strlen(types[i]);
        if (strncmp(declared, types[i], size) == 0 && declared[size] == ',' &&
            (own == NULL || strcmp(own, types[i]) == 0)) {
            return declared + size + 1;
        }
    }
    return NULL;
}

/* Is it a statement that makes this table, of this version or another one: plain columns, and its key?
 * No column has a constraint, a default or an expression. */
static bool is_own_table(const struct schema_table *table, const char *sql)
{
    char head[64], tail[96];
    snprintf(head, sizeof head, "CREATE TABLE %s (", table->name);
    snprintf(tail, sizeof tail, "PRIMARY KEY (%s))%s", table->key,
             table == schema_tables ? "" : " WITHOUT ROWID");
    if (strncmp(sql, head, strlen(head)) != 0) {
        return false;
    }
    const char *at = sql + strlen(head);
    while (at != NULL && strcmp(at += strspn(at, " \n"), tail) != 0) {
        at = read_plain_column(table, at);
    }
    return at != NULL;
}

static bool check_table(const struct store *store, const struct object *object, struct error *why)
{
    const struct schema_table *own = schema_find(object->name);
    if (own == NULL) {
        return strncmp(object->sql, made, sizeof made - 1) == 0 ||
               guard_refuse(store, "virtual table", object, why);
    }
    return is_own_table(own, object->sql) ||
           error_set(why, store->path, 0,
                     "holds results of another version of spillway (table '%.60s')", object->name);
}

static bool check_object(const struct store *store, const struct object *object, struct error *why)
{
    if (strcmp(object->type, "table") == 0) {
        return check_table(store, object, why);
    }
    bool index = strcmp(object->type, "index") == 0;
    bool harmless = index && (object->sql[0] == '\0' || schema_find(object->table) == NULL);
    return harmless || guard_refuse(store, object->type, object, why);
}

static const char *text_at(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return text != NULL ? text : "";
}

bool guard_check(struct store *store, bool whole, struct error *why)
{
    sqlite3_stmt *row = NULL;
    bool more = true;
    bool good = database_prepare(store, "SELECT type, name, tbl_name, sql FROM main.sqlite_schema",
                                 &row, why);
    while (good && (good = database_step(store, row, &more, why)) && more) {
        struct object object = {text_at(row, 0), text_at(row, 1), text_at(row, 2), text_at(row, 3)};
        good = check_object(store, &object, why);
    }
    sqlite3_finalize(row);
    for (const struct schema_table *table = schema_tables; good && whole && table->name != NULL;
         table++) {
        good = database_has(store, table->name, NULL) ||
               error_set(why, store->path, 0, "is damaged: the table '%s' is missing", table->name);
    }
    return good;
}

/* The types are those that the tables declare; JSON texts are those that predict/result/cell.h reads back. */

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

static bool holds_items(const struct column *column, const char *text)
{
    char names[RESULT_MOST_ITEMS][RESULT_NAME];
    struct result result;
    result_init(&result);
    bool holds = cell_parse(&result, column, text, names);
    result_release(&result);
    return holds;
}

static bool holds_json(const char *text)
{
    json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
    json_decref(json);
    return json != NULL;
}

/* What is wrong with a text, beyond its type: some columns of a run hold JSON, and the texts behind them
 * have a most size each. */
static const char *text_fault(const struct value_rows *rows, int column)
{
    const char *text = (const char *)sqlite3_column_text(rows->row, column);
    bool run = strcmp(rows->table, "runs") == 0;
    int behind = column - (int)column_count;
    if (text == NULL) {
        return NULL;
    }
    if (run && behind < 0 && column_rows[column]->holds != HOLDS_VALUE) {
        return holds_items(column_rows[column], text) ? NULL : "malformed JSON";
    }
    if (run && behind >= 0 && behind < SCHEMA_TEXTS &&
        (size_t)sqlite3_column_bytes(rows->row, column) >= schema_texts[behind].size) {
        return "longer than spillway writes";
    }
    const char *name = sqlite3_column_name(rows->row, column);
    bool json = (run && text[0] != '\0' && strcmp(name, "scenario") == 0) ||
                (strcmp(rows->table, "curves") == 0 && strcmp(name, "parameters") == 0);
    return json && !holds_json(text) ? "malformed JSON" : NULL;
}

static bool check_row(const struct value_rows *rows, struct error *why)
{
    for (int i = 0; i < sqlite3_column_count(rows->row); i++) {
        const char *fault = values_fault(rows->row, i);
        if (fault == NULL && sqlite3_column_type(rows->row, i) == SQLITE_TEXT) {
            fault = text_fault(rows, i);
        }
        if (fault != NULL) {
            return store_values_damaged(rows, i, fault, why);
        }
    }
    return true;
}

bool values_check(struct store *store, struct error *why)
{
    bool good = true;
    for (const struct schema_table *table = schema_tables; good && table->name != NULL; table++) {
        struct value_rows rows = {.store = store, .table = table->name};
        bool more = true;
        good = database_prepare_own(store, schema_select(table, "", why), &rows.row, why);
        while (good && (good = database_step(store, rows.row, &more, why)) && more) {
            good = check_row(&rows, why);
        }
        sqlite3_finalize(rows.row);
    }
    return good;
}
