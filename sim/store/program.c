/* A view of the connection hides the table of the same name: queries need not know. Pages are made of
 * queries that name a table a hundred times over, and SQLite copies a view of 250 columns each time:
 * a table that has nothing to hide has no view. */
#include "store/store_program.h"

#include "core/version.h"
#include "store/database.h"

#include <stdio.h>
#include <string.h>

static const char select_program[] =
    "WITH stored(version, has_runs, last) AS ("
    "  SELECT version, 1, MAX(rowid) FROM main.runs GROUP BY version"
    "  UNION ALL SELECT version, 0, 0 FROM main.ablations"
    "  UNION ALL SELECT version, 0, 0 FROM main.validations)"
    " SELECT version FROM stored WHERE version IS NOT NULL"
    " ORDER BY version = ?1 DESC, has_runs DESC, last DESC, version DESC LIMIT 1";

static bool read_program(struct store *store, struct store_program *out, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    bool ok = database_prepare(store, select_program, &statement, why);
    if (ok) {
        sqlite3_bind_text(statement, 1, spillway_program, -1, SQLITE_STATIC);
        ok = database_step(store, statement, &row, why);
    }
    if (ok && row) {
        const char *name = (const char *)sqlite3_column_text(statement, 0);
        snprintf(out->name, sizeof out->name, "%s", name != NULL ? name : "");
        out->own = strcmp(out->name, spillway_program) == 0;
    }
    sqlite3_finalize(statement);
    return ok;
}

/* The tables whose rows name their program, as far as this file has them. A view has no rowid of
 * its own, and pictures sort by it. */
static const char select_views[] =
    "SELECT printf('CREATE TEMP VIEW %s AS SELECT %s* FROM main.%s WHERE version = %Q;', name,"
    "  CASE name WHEN 'runs' THEN 'rowid, ' ELSE '' END, name, ?1),"
    " printf('SELECT 1 FROM main.%s WHERE version IS NOT %Q LIMIT 1', name, ?1) FROM main.sqlite_schema"
    " WHERE name IN ('runs', 'plans', 'plan_points', 'ablations', 'validations') ORDER BY name";

static bool has_row(struct store *store, const char *select, bool *has, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    *has = false;
    bool ok = database_prepare(store, select, &statement, why) &&
              database_step(store, statement, has, why);
    sqlite3_finalize(statement);
    return ok;
}

/* `row` is one of select_views. */
static bool create_view(struct store *store, sqlite3_stmt *row, struct error *why)
{
    bool hides;
    return has_row(store, (const char *)sqlite3_column_text(row, 1), &hides, why) &&
           (!hides || database_run(store, (const char *)sqlite3_column_text(row, 0), why));
}

static bool create_views(struct store *store, const char *program, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    bool ok = database_run(store, "PRAGMA query_only = 0", why) &&
              database_prepare(store, select_views, &statement, why);
    if (ok) {
        sqlite3_bind_text(statement, 1, program, -1, SQLITE_STATIC);
    }
    while (ok && (ok = database_step(store, statement, &row, why)) && row) {
        ok = create_view(store, statement, why);
    }
    sqlite3_finalize(statement);
    return ok && database_run(store, "PRAGMA query_only = 1", why);
}

static const char count_hidden[] =
    "SELECT (SELECT COUNT(*) FROM main.runs) + (SELECT COUNT(*) FROM main.validations)"
    " - (SELECT COUNT(*) FROM runs) - (SELECT COUNT(*) FROM validations)";

static bool read_hidden(struct store *store, uint64_t *hidden, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool row = false;
    bool ok = database_prepare(store, count_hidden, &statement, why) &&
              database_step(store, statement, &row, why);
    *hidden = ok && row ? (uint64_t)sqlite3_column_int64(statement, 0) : 0;
    sqlite3_finalize(statement);
    return ok;
}

bool store_show_program(struct store *store, struct store_program *out, struct error *why)
{
    *out = (struct store_program){.name = ""};
    return read_program(store, out, why) &&
           (out->name[0] == '\0' ||
            (create_views(store, out->name, why) && read_hidden(store, &out->hidden, why)));
}
