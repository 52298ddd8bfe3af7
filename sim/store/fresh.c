/* A database that was made for nothing: new, and the disk had no room for its first result.
 *
 * The lock is held until the file is gone, so nobody stores a result in between. Whoever has the
 * file open meanwhile gets an error from SQLite at its next write: the file was deleted. */
#include "store/database.h"

#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static bool has_rows(struct store *store, const char *table, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    char *sql = sqlite3_mprintf("SELECT 1 FROM \"%w\" LIMIT 1", table);
    bool ok = sql != NULL && database_prepare(store, sql, &statement, why) &&
              database_step(store, statement, &row, why);
    sqlite3_finalize(statement);
    sqlite3_free(sql);
    return !ok || row;
}

static bool holds_nothing(struct store *store, struct error *why)
{
    static const char tables[] =
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name != 'shards'";
    sqlite3_stmt *statement = NULL;
    bool row = false, nothing = database_prepare(store, tables, &statement, why);
    while (nothing && (nothing = database_step(store, statement, &row, why)) && row) {
        nothing = !has_rows(store, (const char *)sqlite3_column_text(statement, 0), why);
    }
    sqlite3_finalize(statement);
    return nothing;
}

/* Locking a file without any page writes its first one. If even that has no room, and nobody else
 * has the lock, an empty file is unused. */
static bool is_unused(struct store *store, const char *file)
{
    struct error unseen;
    struct stat info;
    if (database_run(store, "BEGIN EXCLUSIVE", &unseen)) {
        return holds_nothing(store, &unseen);
    }
    return sqlite3_errcode(store->database) != SQLITE_BUSY && stat(file, &info) == 0 &&
           info.st_size == 0;
}

void fresh_remove_unused(struct store *store)
{
    if (store->fresh && store->unwritten) {
        const char *file = sqlite3_db_filename(store->database, "main"); /* where a link leads */
        if (is_unused(store, file)) {
            unlink(file);
        }
    }
}
