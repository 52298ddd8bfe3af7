/* Each table is the end of a statement, from its name on. */
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
#include "answer/plans.def"
#undef COLUMN
    "  version TEXT, PRIMARY KEY (plan, place)) WITHOUT ROWID",
    "plan_points (\n"
#define COLUMN(name, type, what) "  " #name SQL_##type ",\n"
#include "answer/plan_points.def"
#undef COLUMN
    "  version TEXT, PRIMARY KEY (plan, place, liked, target)) WITHOUT ROWID",
};
enum { TABLES = sizeof tables / sizeof tables[0] };

const char *later_table(size_t index)
{
    return index < TABLES ? tables[index] : NULL;
}

/* Does the file have this table? */
static bool look(struct store *store, const char *table, bool *there, struct error *why)
{
    static const char find[] = "SELECT 1 FROM main.sqlite_schema WHERE name = ? COLLATE NOCASE";
    sqlite3_stmt *statement = NULL;
    bool good = database_prepare(store, find, &statement, why);
    if (good) {
        sqlite3_bind_text(statement, 1, table, (int)strcspn(table, " "), SQLITE_STATIC);
        good = database_step(store, statement, there, why);
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
