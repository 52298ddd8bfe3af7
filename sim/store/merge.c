/* Rows are copied unchanged, run by run: the rows of a run are in several tables, under its
 * hash. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/database.h"
#include "store/run.h"
#include "store/schema.h"
#include "store/store.h"

/* A file that is being merged. */
struct merge_part {
    struct store *store;
    struct store_shard shard;
    bool is_shard;
    uint32_t place;     /* its position among the files, as named */
    sqlite3_stmt *runs; /* the hashes of its runs, in the order in which they were put */
    bool has_run;       /* `runs` stands at a row */
};

struct merge {
    struct store *into;
    struct merge_part *parts;
    uint32_t count;
    uint64_t added;
};

/* ---- rows ------------------------------------------------------------------------------ */

static int first_word(const char *key)
{
    return (int)strcspn(key, ",");
}

/* Bind the columns of the row at which `from` stands to the parameters of `to`. */
static bool merge_bind_row(sqlite3_stmt *from, sqlite3_stmt *to)
{
    for (int i = 0; i < sqlite3_column_count(from); i++) {
        if (sqlite3_bind_value(to, i + 1, sqlite3_column_value(from, i)) != SQLITE_OK) {
            return false;
        }
    }
    return true;
}

/* Rows whose first column is `key`. */
static sqlite3_stmt *find_rows(struct store *store, const struct schema_table *table,
                               const char *key, struct error *why)
{
    char rest[128];
    sqlite3_stmt *statement = NULL;
    snprintf(rest, sizeof rest, "WHERE %.*s = ? ORDER BY 1, 2, 3", first_word(table->key),
             table->key);
    if (database_prepare_own(store, schema_select(table, rest, why), &statement, why)) {
        sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
    }
    return statement;
}

static bool merge_copy_rows(struct store *from, struct store *into,
                            const struct schema_table *table, const char *key, struct error *why)
{
    sqlite3_stmt *rows = find_rows(from, table, key, why), *insert = NULL;
    bool row = true, unused;
    bool ok = rows != NULL &&
              database_prepare_own(into, schema_insert(table, "INSERT", why), &insert, why);
    while (ok && (ok = database_step(from, rows, &row, why)) && row) {
        ok = (merge_bind_row(rows, insert) || database_error(into, why)) &&
             database_step(into, insert, &unused, why);
        sqlite3_reset(insert);
    }
    sqlite3_finalize(rows);
    sqlite3_finalize(insert);
    return ok;
}

/* ---- rows that are there twice --------------------------------------------------------- */

static bool equal_texts(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
    int size = sqlite3_column_bytes(a, column);
    return size == sqlite3_column_bytes(b, column) &&
           (size == 0 || memcmp(sqlite3_column_blob(a, column), sqlite3_column_blob(b, column),
                                (size_t)size) == 0);
}

/* Compare to the last bit, because a number printed as text keeps only 15 digits. */
static bool equal_values(sqlite3_stmt *a, sqlite3_stmt *b, int column)
{
    int type = sqlite3_column_type(a, column);
    if (type != sqlite3_column_type(b, column)) {
        return false;
    }
    return type == SQLITE_INTEGER
               ? sqlite3_column_int64(a, column) == sqlite3_column_int64(b, column)
           : type == SQLITE_FLOAT
               ? sqlite3_column_double(a, column) == sqlite3_column_double(b, column)
               : type == SQLITE_NULL || equal_texts(a, b, column);
}

static bool equal_rows(sqlite3_stmt *a, sqlite3_stmt *b)
{
    bool equal = true;
    for (int i = 0; equal && i < sqlite3_column_count(a); i++) {
        equal = equal_values(a, b, i);
    }
    return equal;
}

/* Compare the rows of `key` in a table of both files: does the output have any, and the same? */
static bool merge_compare_rows(struct merge *merge, struct store *from,
                               const struct schema_table *table, const char *key, bool *there,
                               bool *same, struct error *why)
{
    sqlite3_stmt *theirs = find_rows(from, table, key, why);
    sqlite3_stmt *ours = theirs != NULL ? find_rows(merge->into, table, key, why) : NULL;
    bool left = true, right = true, ok = ours != NULL;
    *there = false;
    *same = true;
    while (ok && left && right && *same) {
        ok = database_step(from, theirs, &left, why) &&
             database_step(merge->into, ours, &right, why);
        *there = *there || (ok && right);
        *same = !ok || (left == right && (!left || equal_rows(theirs, ours)));
    }
    sqlite3_finalize(theirs);
    sqlite3_finalize(ours);
    return ok;
}

/* The next table from here that is keyed by `column`; NULL after the last. The first one has the keys.
 * Replications are joined draw by draw. */
static const struct schema_table *merge_next_table(const struct schema_table *table,
                                                   const char *column)
{
    while (table->name != NULL && (strlen(column) != (size_t)first_word(table->key) ||
                                   strncmp(table->key, column, strlen(column)) != 0 ||
                                   strcmp(table->name, "replications") == 0)) {
        table++;
    }
    return table->name != NULL ? table : NULL;
}

/* Is `key` in both files, with the same rows in all tables? */
static bool merge_compare(struct merge *merge, struct store *from, const char *column,
                          const char *key, bool *there, struct error *why)
{
    const struct schema_table *table = merge_next_table(schema_tables, column);
    bool same, some;
    if (!merge_compare_rows(merge, from, table, key, there, &same, why)) {
        return false;
    }
    while (*there && same && (table = merge_next_table(table + 1, column)) != NULL) {
        if (!merge_compare_rows(merge, from, table, key, &some, &same, why)) {
            return false;
        }
    }
    if (*there && !same) {
        error_set(why, from->path, 0, "%s %s differs from the one merged before", column, key);
        return error_expect(why, "files of one version of spillway, as they were written");
    }
    return true;
}

/* Copy the rows of `key` in all tables, unless they are there. */
static bool copy_key(struct merge *merge, struct store *from, const char *column, const char *key,
                     bool *copied, struct error *why)
{
    const struct schema_table *table = merge_next_table(schema_tables, column);
    bool there;
    if (!merge_compare(merge, from, column, key, &there, why)) {
        return false;
    }
    *copied = !there;
    for (; !there && table != NULL; table = merge_next_table(table + 1, column)) {
        if (!merge_copy_rows(from, merge->into, table, key, why)) {
            return false;
        }
    }
    return true;
}

/* ---- files ----------------------------------------------------------------------------- */

static bool merge_open_part(const char *path, struct merge_part *part, struct error *why)
{
    part->store = store_open(path, false, why);
    return part->store != NULL &&
           store_get_shard(part->store, &part->shard, &part->is_shard, why) &&
           database_prepare(part->store, "SELECT run FROM runs ORDER BY rowid", &part->runs, why) &&
           database_step(part->store, part->runs, &part->has_run, why);
}

static void close_part(struct merge_part *part)
{
    sqlite3_finalize(part->runs);
    store_close(part->store);
}

/* All shards must belong to one sweep; files that are no shards may join them. */
static bool check_shards(const struct merge *merge, struct error *why)
{
    const struct merge_part *first = NULL;
    for (uint32_t i = 0; i < merge->count; i++) {
        const struct merge_part *part = &merge->parts[i];
        first = first == NULL && part->is_shard ? part : first;
        if (part->is_shard && (strcmp(first->shard.scenario, part->shard.scenario) != 0 ||
                               first->shard.count != part->shard.count)) {
            error_set(why, part->store->path, 0,
                      "holds shard %u/%u of another sweep or program than '%s'", part->shard.number,
                      part->shard.count, first->store->path);
            return error_expect(
                why, "shards of one scenario, by one program, cut into the same number of parts");
        }
    }
    return true;
}

static int by_shard(const void *a, const void *b)
{
    const struct merge_part *x = a, *y = b;
    uint32_t left = x->shard.number, right = y->shard.number;
    return left != right ? (left > right) - (left < right)
                         : (x->place > y->place) - (x->place < y->place);
}

/* ---- merging --------------------------------------------------------------------------- */

/* The key of the current row of `keys`, valid until the next step; NULL, an error, if it is
 * null. */
static const char *merge_read_key(const struct merge_part *part, sqlite3_stmt *keys,
                                  struct error *why)
{
    const char *key = (const char *)sqlite3_column_text(keys, 0);
    if (key == NULL) {
        error_set(why, part->store->path, 0, "a row has no key");
        error_expect(why, "an unchanged file written by spillway");
    }
    return key;
}

static bool copy_next_run(struct merge *merge, struct merge_part *part, struct error *why)
{
    bool copied;
    const char *run = merge_read_key(part, part->runs, why);
    if (run == NULL || !copy_key(merge, part->store, "run", run, &copied, why) ||
        !store_join_draws(merge->into, part->store, run, why)) {
        return false;
    }
    merge->added += copied;
    return database_step(part->store, part->runs, &part->has_run, why);
}

/* Copy one run of each shard in turn, in the order in which a single machine would have reached
 * them; of a file that is not a shard, all remaining runs. */
static bool copy_runs(struct merge *merge, struct error *why)
{
    bool more = true;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < merge->count; i++) {
            struct merge_part *part = &merge->parts[i];
            while (part->has_run) {
                if (!copy_next_run(merge, part, why)) {
                    return false;
                }
                more = true;
                if (part->is_shard) {
                    break;
                }
            }
        }
    }
    return true;
}

/* Copy everything that the first table of `column` lists, key by key. */
static bool copy_keys(struct merge *merge, struct merge_part *part, const char *column,
                      struct error *why)
{
    char sql[128];
    sqlite3_stmt *keys = NULL;
    bool row = true, copied;
    snprintf(sql, sizeof sql, "SELECT DISTINCT %s FROM %s ORDER BY 1", column,
             merge_next_table(schema_tables, column)->name);
    bool ok = database_prepare(part->store, sql, &keys, why);
    while (ok && (ok = database_step(part->store, keys, &row, why)) && row) {
        const char *key = merge_read_key(part, keys, why);
        ok = key != NULL && copy_key(merge, part->store, column, key, &copied, why);
    }
    sqlite3_finalize(keys);
    return ok;
}

static bool copy_all(struct merge *merge, struct error *why)
{
    if (!copy_runs(merge, why)) {
        return false;
    }
    for (uint32_t i = 0; i < merge->count; i++) {
        struct merge_part *part = &merge->parts[i];
        if (!copy_keys(merge, part, "curve", why) || !copy_keys(merge, part, "validation", why) ||
            !copy_keys(merge, part, "ablation", why) || !copy_keys(merge, part, "plan", why) ||
            (part->is_shard && !store_insert_shard(merge->into, &part->shard, why))) {
            return false;
        }
    }
    return true;
}

static bool merge_run(struct merge *merge, const char *const *paths, struct error *why)
{
    for (uint32_t i = 0; i < merge->count; i++) {
        merge->parts[i].place = i;
        if (!merge_open_part(paths[i], &merge->parts[i], why)) {
            return false;
        }
    }
    if (!check_shards(merge, why)) {
        return false;
    }
    qsort(merge->parts, merge->count, sizeof *merge->parts, by_shard);
    return database_run(merge->into, "BEGIN IMMEDIATE", why) && copy_all(merge, why);
}

bool store_merge(struct store *into, const char *const *paths, uint32_t count, uint64_t *added,
                 struct error *why)
{
    struct merge merge = {.into = into, .count = count};
    merge.parts = calloc(count, sizeof *merge.parts);
    bool ok = merge.parts != NULL ? merge_run(&merge, paths, why)
                                  : error_set(why, into->path, 0, "out of memory");
    ok = database_end(into, ok, why);
    for (uint32_t i = 0; merge.parts != NULL && i < count; i++) {
        close_part(&merge.parts[i]);
    }
    free(merge.parts);
    *added = merge.added;
    return ok;
}

/* The one row of `shards` in a file whose runs are part of a sweep. */

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
