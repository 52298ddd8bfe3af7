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

/* The statements that copy a table. */
struct table_copy {
    sqlite3_stmt *from, *into, *same; /* the last: is this row there, to the last bit? */
};

/* `last`: the number of the output's last row before the merge. */
static bool table_copy_prepare(struct table_copy *copy, struct store *part, struct store *into,
                               const struct schema_table *table, int64_t last, struct error *why)
{
    bool runs = table == schema_tables;
    char in_turn[sizeof runs_in_turn + 32];
    snprintf(in_turn, sizeof in_turn, runs_in_turn, (long long)last);
    return database_prepare_own(part, schema_sql(table, runs ? in_turn : "SELECT %c FROM %t", why),
                                &copy->from, why) &&
           database_prepare_own(
               into,
               schema_sql(table,
                          runs ? "INSERT OR IGNORE INTO %t(%c, rowid) VALUES (%v, (SELECT turn FROM"
                                 " (SELECT ? AS turn) WHERE turn NOT IN (SELECT rowid FROM %t)))"
                               : "INSERT OR IGNORE INTO %t(%c) VALUES (%v)",
                          why),
               &copy->into, why) &&
           database_prepare_own(into, schema_sql(table, "SELECT 1 FROM %t WHERE %w", why),
                                &copy->same, why);
}

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

static bool copy_row(struct table_copy *copy, struct store *part, struct store *into,
                     bool *is_added, struct error *why)
{
    bool same = false;
    if (!step_with_row(into, copy->from, copy->into, &same, why)) {
        return false;
    }
    *is_added = sqlite3_changes(into->database) > 0;
    if (*is_added || !step_with_row(into, copy->from, copy->same, &same, why) || same) {
        return *is_added || same;
    }
    error_set(why, part->path, 0, "%s %s differs from the one merged before",
              sqlite3_column_name(copy->from, 0), sqlite3_column_text(copy->from, 0));
    return error_expect(why, "files of one version of spillway, as they were written");
}

static bool copy_table(struct store *part, struct store *into, const struct schema_table *table,
                       int64_t last, uint64_t *added, struct error *why)
{
    struct table_copy copy = {NULL, NULL, NULL};
    bool more = true, is_added, good = table_copy_prepare(&copy, part, into, table, last, why);
    while (good && (good = database_step(part, copy.from, &more, why)) && more) {
        good = copy_row(&copy, part, into, &is_added, why);
        *added += good && is_added && table == schema_tables;
    }
    sqlite3_finalize(copy.from);
    sqlite3_finalize(copy.into);
    sqlite3_finalize(copy.same);
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
