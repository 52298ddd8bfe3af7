/* SQLite keeps the statement that created a table as it was written, from the table's name on. */
#include "store/later.h"

#include "store/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQL_TEXT " TEXT"
#define SQL_INTEGER " INTEGER"

static const char *const tables[] = {
    "plans (\n"
#define COLUMN(name, type, what) "  " #name SQL_##type ",\n"
#include "store/plans.def"
#undef COLUMN
    "  version TEXT, PRIMARY KEY (plan, place)) WITHOUT ROWID",
    "plan_points (\n"
#define COLUMN(name, type, what) "  " #name SQL_##type ",\n"
#include "store/plan_points.def"
#undef COLUMN
    "  version TEXT, PRIMARY KEY (plan, place, liked, target)) WITHOUT ROWID",
};
enum { TABLES = sizeof tables / sizeof tables[0] };

/* Does the file have this table, with the present columns? */
static bool look(struct store *store, const char *table, bool *there, struct error *why)
{
    static const char find[] = "SELECT sql FROM main.sqlite_schema WHERE name = ?";
    static const char made[] = "CREATE TABLE ";
    sqlite3_stmt *statement = NULL;
    bool good = database_prepare(store, find, &statement, why);
    if (good) {
        sqlite3_bind_text(statement, 1, table, (int)strcspn(table, " "), SQLITE_STATIC);
        good = database_step(store, statement, there, why);
    }
    if (good && *there) {
        const char *sql = (const char *)sqlite3_column_text(statement, 0);
        good = (sql != NULL && strncmp(sql, made, strlen(made)) == 0 &&
                strcmp(sql + strlen(made), table) == 0) ||
               error_set(why, store->path, 0,
                         "holds results of another version of spillway (table '%.*s')",
                         (int)strcspn(table, " "), table);
    }
    sqlite3_finalize(statement);
    return good;
}

/* Create the table; another process may have done so first. */
static bool make(struct store *store, const char *table, bool writable, struct error *why)
{
    char *sql;
    if (asprintf(&sql, "CREATE %sTABLE IF NOT EXISTS %s", writable ? "" : "TEMP ", table) < 0) {
        return error_set(why, store->path, 0, "out of memory");
    }
    bool good = database_run(store, sql, why);
    free(sql);
    return good;
}

bool later_tables_open(struct store *store, bool writable, struct error *why)
{
    bool good = true;
    for (size_t i = 0; good && i < TABLES; i++) {
        bool there = false;
        good =
            look(store, tables[i], &there, why) && (there || make(store, tables[i], writable, why));
    }
    return good;
}
