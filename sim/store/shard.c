/* The one row of `shards` in a file whose runs are part of a sweep. */
#include "store/store.h"

#include "store/database.h"

#include <stdio.h>
#include <string.h>

/* Read the row; false if no shard is numbered, or its sweep named, like that. */
static bool read_shard(sqlite3_stmt *row, struct store_shard *out)
{
    const char *scenario = (const char *)sqlite3_column_text(row, 0);
    int64_t points = sqlite3_column_int64(row, 1);
    int64_t number = sqlite3_column_int64(row, 2), count = sqlite3_column_int64(row, 3);
    if (scenario == NULL || strlen(scenario) >= sizeof out->scenario || points < 0 ||
        points > UINT32_MAX || number < 1 || number > count || count > UINT32_MAX) {
        return false;
    }
    snprintf(out->scenario, sizeof out->scenario, "%s", scenario);
    out->points = (uint32_t)points;
    out->number = (uint32_t)number;
    out->count = (uint32_t)count;
    return true;
}

bool store_get_shard(struct store *store, struct store_shard *shard, bool *found, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool ok = database_prepare(store,
                               "SELECT scenario, points, number, count FROM shards ORDER BY number",
                               &statement, why) &&
              database_step(store, statement, found, why);
    ok = ok && (!*found || read_shard(statement, shard) ||
                error_set(why, store->path, 0, "is damaged: its row in table 'shards'"));
    sqlite3_finalize(statement);
    return ok;
}

bool store_insert_shard(struct store *store, const struct store_shard *shard, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool row;
    bool ok =
        database_prepare(store, "INSERT OR IGNORE INTO shards VALUES (?,?,?,?)", &statement, why);
    if (ok) {
        sqlite3_bind_text(statement, 1, shard->scenario, -1, SQLITE_STATIC);
        sqlite3_bind_int64(statement, 2, shard->points);
        sqlite3_bind_int64(statement, 3, shard->number);
        sqlite3_bind_int64(statement, 4, shard->count);
        ok = database_step(store, statement, &row, why);
    }
    sqlite3_finalize(statement);
    return ok;
}

bool store_put_shard(struct store *store, const struct store_shard *shard, struct error *why)
{
    struct store_shard held;
    bool found;
    if (!store_get_shard(store, &held, &found, why)) {
        return false;
    }
    if (!found) {
        return store_insert_shard(store, shard, why);
    }
    if (strcmp(held.scenario, shard->scenario) != 0) {
        return error_set(why, store->path, 0,
                         "holds a shard of another sweep, or of another program");
    }
    if (held.number != shard->number || held.count != shard->count) {
        error_set(why, store->path, 0, "holds shard %u/%u of this sweep, not %u/%u", held.number,
                  held.count, shard->number, shard->count);
        return error_expect(why, "a file for each shard, which 'merge' joins");
    }
    return true;
}
