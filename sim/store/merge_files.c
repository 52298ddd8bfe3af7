/* Merging: each file is copied into an attached database for a moment, and its rows are staged in
 * another one; from there all of them go into the output in one transaction, because SQLite detaches
 * nothing within one. What is there twice is compared when its file is read, so that it can be
 * named, and with the output again in the transaction: another process may have written meanwhile. */
#include "store/database.h"

#include "store/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the mark of a shard ---- */

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

/* The shard that the file holds; in a merged file the first one. */
static bool store_get_shard(struct store *store, struct store_shard *shard, bool *found,
                            struct error *why)
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

static bool store_insert_shard(struct store *store, const struct store_shard *shard,
                               struct error *why)
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

/* ---- the files ---- */

/* Shards of one sweep take turns, run by run; other files go first, each as a whole. */
static const char open_stage[] = "ATTACH '' AS staged; CREATE TABLE staged.turns(run, turn, shard)";
static const char in_turns[] = "JOIN staged.turns USING (run) ORDER BY turn, shard, turns.rowid";

struct merge {
    struct store *into;
    struct store_shard shard; /* the first that was read */
    const char *first;        /* its file; NULL: none was */
};

/* Run a statement that was printed, and free it. */
static bool run_printed(struct store *store, char *sql, struct error *why)
{
    bool good = sql != NULL ? database_run(store, sql, why)
                            : error_set(why, store->path, 0, "out of memory");
    sqlite3_free(sql);
    return good;
}

/* Put the rows of all tables of one attached database into those of another one. `added`: the runs that
 * were new. */
static bool copy_tables(struct store *store, const char *from, const char *into, const char *order,
                        uint64_t *added, struct error *why)
{
    bool good = true;
    for (const struct schema_table *table = schema_tables; good && table->name != NULL; table++) {
        bool runs = table == schema_tables;
        char *columns = schema_columns(table, why);
        good = columns != NULL &&
               run_printed(store,
                           sqlite3_mprintf(
                               "INSERT OR IGNORE INTO %s.%s(%s) SELECT %s FROM %s.%s %s", into,
                               table->name, columns, columns, from, table->name, runs ? order : ""),
                           why);
        *added = runs ? (uint64_t)sqlite3_changes64(store->database) : *added;
        free(columns);
    }
    return good;
}

/* ---- rows that are there twice ---- */

/* The table that lists the keys of `table`: runs of run, and so on. */
static const struct schema_table *keys_of(const struct schema_table *table)
{
    const struct schema_table *first = schema_tables;
    size_t length = strcspn(table->key, ",");
    while (strncmp(first->key, table->key, length) != 0 || strcspn(first->key, ",") != length) {
        first++;
    }
    return first;
}

/* Refuse a row of `a` that `b` lacks although it has the row's key, or for replications the row of all
 * its keys: some of them may be missing. Values are compared to the last bit. */
static bool check_rows(struct store *store, const struct schema_table *table, const char *a,
                       const char *b, const char *path, struct error *why)
{
    bool whole = table == schema_draws() || strcmp(table->name, "shards") == 0;
    const struct schema_table *keys = whole ? table : keys_of(table);
    int length = (int)(whole ? strlen(table->key) : strcspn(table->key, ","));
    char *columns = schema_columns(table, why), *sql = NULL;
    sqlite3_stmt *found = NULL;
    bool row = false;
    if (columns != NULL) {
        sql = sqlite3_mprintf(
            "SELECT %s FROM %s.%s WHERE (%.*s) IN (SELECT %.*s FROM %s.%s)"
            " EXCEPT SELECT %s FROM %s.%s WHERE (%.*s) IN (SELECT %.*s FROM %s.%s)"
            " LIMIT 1",
            columns, a, table->name, length, table->key, length, table->key, b, keys->name, columns,
            b, table->name, length, table->key, length, table->key, a, keys->name);
    }
    bool good = sql != NULL && database_prepare(store, sql, &found, why) &&
                database_step(store, found, &row, why);
    if (good && row) {
        good = error_set(why, path, 0, "%s %s differs from the one merged before",
                         sqlite3_column_name(found, 0), sqlite3_column_text(found, 0));
        error_expect(why, "files of one version of spillway, as they were written");
    }
    sqlite3_finalize(found);
    sqlite3_free(sql);
    free(columns);
    return good;
}

static bool check_twice(struct store *store, const char *path, const char *part, const char *before,
                        struct error *why)
{
    bool good = true;
    for (const struct schema_table *table = schema_tables; good && table->name != NULL; table++) {
        good = check_rows(store, table, part, before, path, why) &&
               check_rows(store, table, before, part, path, why);
    }
    return good;
}

/* ---- merging ---- */

/* All shards must belong to one sweep; files that are no shards may join them. */
static bool check_part(struct merge *merge, struct store *part, struct store_shard *shard,
                       struct error *why)
{
    static const char nameless[] = "SELECT 1 FROM runs WHERE run IS NULL";
    bool is_shard;
    int64_t found;
    *shard = (struct store_shard){.number = 0};
    if (!store_get_shard(part, shard, &is_shard, why) ||
        !database_number(part, nameless, NULL, &found, why)) {
        return false;
    }
    if (found != 0) {
        error_set(why, part->path, 0, "a row has no key");
        return error_expect(why, "an unchanged file written by spillway");
    }
    if (is_shard && merge->first == NULL) {
        merge->shard = *shard;
    }
    if (!is_shard || (strcmp(merge->shard.scenario, shard->scenario) == 0 &&
                      merge->shard.count == shard->count)) {
        return true;
    }
    error_set(why, part->path, 0, "holds shard %u/%u of another sweep or program than '%s'",
              shard->number, shard->count, merge->first);
    return error_expect(
        why, "shards of one scenario, by one program, cut into the same number of parts");
}

/* Copy a file, whatever its version, into the attached database `part`. */
static bool attach(struct store *into, struct store *part, struct error *why)
{
    if (!database_run(into, "ATTACH '' AS part", why)) {
        return false;
    }
    sqlite3_backup *backup = sqlite3_backup_init(into->database, "part", part->database, "main");
    bool good = backup != NULL && sqlite3_backup_step(backup, -1) == SQLITE_DONE;
    sqlite3_backup_finish(backup);
    return good ||
           error_set(why, part->path, 0, "cannot be copied: %s", sqlite3_errmsg(into->database));
}

static bool stage_rows(struct store *into, const char *path, const struct store_shard *shard,
                       struct error *why)
{
    uint64_t unused;
    char *turns = sqlite3_mprintf(
        "INSERT INTO staged.turns SELECT run, %s, %u FROM part.runs ORDER BY rowid",
        shard->number > 0 ? "ROW_NUMBER() OVER (ORDER BY rowid)" : "0", shard->number);
    return run_printed(into, turns, why) && check_twice(into, path, "part", "main", why) &&
           check_twice(into, path, "part", "staged", why) &&
           copy_tables(into, "part", "staged", "", &unused, why) &&
           database_run(into, "DETACH part", why);
}

static bool stage(struct merge *merge, const char *path, struct error *why)
{
    struct store_shard shard;
    struct store *part = store_open(path, false, why);
    bool good = part != NULL && check_part(merge, part, &shard, why) &&
                attach(merge->into, part, why) && stage_rows(merge->into, path, &shard, why);
    merge->first = merge->first == NULL && good && shard.number > 0 ? path : merge->first;
    store_close(part);
    return good;
}

static bool create_stage(struct store *into, struct error *why)
{
    bool good = database_run(into, open_stage, why);
    for (const struct schema_table *table = schema_tables; good && table->name != NULL; table++) {
        good = run_printed(
            into,
            sqlite3_mprintf("CREATE TABLE staged.%s AS SELECT * FROM main.%s WHERE 0;"
                            "CREATE INDEX staged.%s_key ON %s(%s)",
                            table->name, table->name, table->name, table->name, table->key),
            why);
    }
    return good;
}

bool store_merge(struct store *into, const char *const *paths, uint32_t count, uint64_t *added,
                 struct error *why)
{
    struct merge merge = {.into = into};
    struct error unseen;
    *added = 0;
    sqlite3_limit(into->database, SQLITE_LIMIT_ATTACHED, 2);
    bool good = create_stage(into, why);
    for (uint32_t i = 0; good && i < count; i++) {
        good = stage(&merge, paths[i], why);
    }
    good = good && database_run(into, "BEGIN IMMEDIATE", why) &&
           check_twice(into, into->path, "staged", "main", why) &&
           copy_tables(into, "staged", "main", in_turns, added, why);
    good = database_end(into, good, why);
    database_run(into, "DETACH part", &unseen); /* after a failure */
    database_run(into, "DETACH staged", &unseen);
    sqlite3_limit(into->database, SQLITE_LIMIT_ATTACHED, 0);
    return good;
}
