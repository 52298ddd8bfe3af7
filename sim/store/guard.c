/* SQLite keeps the statement that made an object as it was written, from its name on. A table's
 * statement is "CREATE TABLE NAME ...", a virtual table's begins otherwise; the index of a PRIMARY
 * KEY has no statement. */

#include "store/guard.h"

#include <stdio.h>
#include <string.h>

#include "store/database.h"
#include "store/schema.h"

#define LONGEST (1 << 26) /* bytes of a text: far more than the largest table of a report */

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

/* Does the statement make plain columns and the table's key, whatever version's? A constraint, an
 * expression or a generated column has a parenthesis, or is UNIQUE. */
static bool is_own_table(const struct schema_table *table, const char *sql)
{
    char head[64], tail[96];
    int begin = snprintf(head, sizeof head, "CREATE TABLE %s (", table->name);
    snprintf(tail, sizeof tail, "PRIMARY KEY (%s))%s", table->key,
             table == schema_tables ? "" : " WITHOUT ROWID");
    const char *end = strstr(sql, tail);
    return strncmp(sql, head, (size_t)begin) == 0 && end != NULL && end[strlen(tail)] == '\0' &&
           memchr(sql + begin, '(', (size_t)(end - sql - begin)) == NULL &&
           strcasestr(sql, " unique,") == NULL && strcasestr(sql, " unique ") == NULL;
}

/* `row` is one of sqlite_schema: type, name, table, statement. */
static bool check_object(const struct store *store, sqlite3_stmt *row, struct error *why)
{
    const char *at[4];
    for (int i = 0; i < 4; i++) {
        const char *text = (const char *)sqlite3_column_text(row, i);
        at[i] = text != NULL ? text : "";
    }
    const struct schema_table *own = schema_find(at[2]);
    if (strcmp(at[0], "table") == 0 && strncmp(at[3], "CREATE TABLE ", 13) == 0) {
        return own == NULL || is_own_table(own, at[3]) ||
               error_set(why, store->path, 0,
                         "holds results of another version of spillway (table '%.60s')", at[1]);
    }
    if (strcmp(at[0], "index") == 0 && (at[3][0] == '\0' || own == NULL)) {
        return true;
    }
    error_set(why, store->path, 0, "holds the %s '%.60s', which spillway did not make",
              strcmp(at[0], "table") == 0 ? "virtual table" : at[0], at[1]);
    return error_expect(why, "spillway's tables as it makes them, and plain tables beside them");
}

bool guard_check(struct store *store, bool whole, struct error *why)
{
    sqlite3_stmt *row = NULL;
    bool more = true;
    bool good = database_prepare(store, "SELECT type, name, tbl_name, sql FROM main.sqlite_schema",
                                 &row, why);
    while (good && (good = database_step(store, row, &more, why)) && more) {
        good = check_object(store, row, why);
    }
    sqlite3_finalize(row);
    for (const struct schema_table *table = schema_tables; good && whole && table->name != NULL;
         table++) {
        good = database_has(store, table->name, NULL) ||
               error_set(why, store->path, 0, "is damaged: the table '%s' is missing", table->name);
    }
    return good;
}
