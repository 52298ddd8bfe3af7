/* Merging: rows of each file go into the output, all in one transaction. */
#include "store/database.h"

#include "store/schema.h"

#include <stdio.h>
#include <string.h>

bool store_put_turn(struct store *store, uint32_t number, uint32_t count, struct error *why)
{
    char put[96];
    snprintf(put, sizeof put, "INSERT OR REPLACE INTO turns VALUES (%u, %u)", number, count);
    return database_run(store, put, why);
}

/* Shards of one sweep take turns, run by run: after those of the output before the merge, their runs get
 * the row numbers that a single machine would have given them. Other runs follow, as do those whose number
 * a run of another sweep has. */
static const char runs_in_turn[] =
    "SELECT %%c, %lld + number + count * (ROW_NUMBER() OVER (ORDER BY runs.rowid) - 1)"
    " FROM runs LEFT JOIN (SELECT * FROM turns ORDER BY number LIMIT 1) ORDER BY runs.rowid";

/* Run `to` with the values of `from`, and tell whether it gives a row. */
static bool step_with_row(struct store *store, sqlite3_stmt *from, sqlite3_stmt *to, bool *row,
                          struct error *why)
{
    sqlite3_reset(to);
    for (int i = 0; i < sqlite3_bind_parameter_count(to); i++) {
        sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i));
    }
    return database_step(store, to, row, why);
}

/* `last`: the output's last row before the merge. A row that is there must be the same to the last bit. */
static bool copy_table(struct store *part, struct store *into, const struct schema_table *table,
                       int64_t last, uint64_t *added, struct error *why)
{
    bool runs = table == schema_tables, more = true, same = false;
    const char *put = runs ? "INSERT OR IGNORE INTO %t(%c, rowid) VALUES (%v, (SELECT turn FROM"
                             " (SELECT ? AS turn) WHERE turn NOT IN (SELECT rowid FROM %t)))"
                           : "INSERT OR IGNORE INTO %t(%c) VALUES (%v)";
    char in_turn[sizeof runs_in_turn + 32];
    sqlite3_stmt *from = NULL, *to = NULL, *there = NULL;
    snprintf(in_turn, sizeof in_turn, runs_in_turn, (long long)last);
    bool good =
        database_prepare_own(part, schema_sql(table, runs ? in_turn : "SELECT %c FROM %t", why),
                             &from, why) &&
        database_prepare_own(into, schema_sql(table, put, why), &to, why) &&
        database_prepare_own(into, schema_sql(table, "SELECT 1 FROM %t WHERE %w", why), &there,
                             why);
    while (good && (good = database_step(part, from, &more, why)) && more) {
        good = step_with_row(into, from, to, &same, why);
        bool is_added = good && sqlite3_changes(into->database) > 0;
        *added += is_added && runs;
        good = is_added || (good && step_with_row(into, from, there, &same, why));
        if (good && !is_added && !same) {
            error_set(why, part->path, 0, "%s %s differs from the one merged before",
                      sqlite3_column_name(from, 0), sqlite3_column_text(from, 0));
            good = error_expect(why, "files of one version of spillway, as they were written");
        }
    }
    sqlite3_finalize(from);
    sqlite3_finalize(to);
    sqlite3_finalize(there);
    return good;
}

bool store_merge(struct store *into, const char *const *paths, uint32_t count, uint64_t *added,
                 struct error *why)
{
    int64_t last = 0;
    *added = 0;
    bool good = database_run(into, "BEGIN IMMEDIATE", why) &&
                database_number(into, "SELECT MAX(rowid) FROM runs", NULL, &last, why);
    for (uint32_t i = 0; good && i < count; i++) {
        struct store *part = store_open(paths[i], false, why);
        good = part != NULL;
        for (const struct schema_table *table = schema_tables; good && table->name != NULL;
             table++) {
            good = strcmp(table->name, "turns") == 0 || /* what is merged is no shard */
                   copy_table(part, into, table, last, added, why);
        }
        store_close(part);
    }
    return database_end(into, good, why);
}
