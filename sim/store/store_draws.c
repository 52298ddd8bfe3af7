#include "store/store_draws.h"

#include "core/array.h"
#include "store/database.h"
#include "store/schema.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns before the figures: run, ranges, replication. */
enum { KEYS = 3 };

static const struct schema_table *table(void)
{
    return schema_find("replications", strlen("replications"));
}

static bool insert_row(struct store *store, sqlite3_stmt *statement, uint32_t number,
                       const double values[DRAWN_MOST], struct error *why)
{
    bool row;
    sqlite3_bind_int64(statement, KEYS, number);
    for (uint32_t i = 0; column_drawn(i) != NULL; i++) {
        int at = KEYS + 1 + (int)i;
        if (isnan(values[i])) {
            sqlite3_bind_null(statement, at);
        } else {
            sqlite3_bind_double(statement, at, values[i]);
        }
    }
    bool ok = database_step(store, statement, &row, why);
    sqlite3_reset(statement);
    return ok;
}

bool store_insert_draws(struct store *store, const char *run, const struct result_draws *draws,
                        struct error *why)
{
    sqlite3_stmt *statement = NULL;
    if (draws->count == 0) {
        return true;
    }
    bool ok = database_prepare_own(store, schema_insert(table(), "INSERT OR IGNORE", why),
                                   &statement, why);
    if (ok) {
        sqlite3_bind_text(statement, 1, run, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, draws->ranges, -1, SQLITE_STATIC);
    }
    for (uint32_t i = 0; ok && i < draws->count; i++) {
        ok = insert_row(store, statement, i, draws->values[i], why);
    }
    sqlite3_finalize(statement);
    return ok;
}

static bool store_draws_read_row(sqlite3_stmt *row, double values[DRAWN_MOST])
{
    memset(values, 0, DRAWN_MOST * sizeof *values); /* rows are compared as bytes */
    for (uint32_t i = 0; column_drawn(i) != NULL; i++) {
        int at = KEYS + (int)i, type = sqlite3_column_type(row, at);
        if (type != SQLITE_NULL && type != SQLITE_FLOAT) {
            return false;
        }
        values[i] = type == SQLITE_NULL ? NAN : sqlite3_column_double(row, at);
    }
    return true;
}

static bool store_draws_read_rows(struct store *store, sqlite3_stmt *statement, const char *run,
                                  struct result_draws *draws, struct error *why)
{
    size_t capacity = 0;
    bool row = false;
    while (database_step(store, statement, &row, why)) {
        if (!row || sqlite3_column_int64(statement, KEYS - 1) != draws->count) {
            return true;
        }
        if (!array_reserve(&draws->values, &capacity, draws->count + 1U, sizeof *draws->values,
                           why)) {
            return false;
        }
        if (!store_draws_read_row(statement, draws->values[draws->count])) {
            return error_set(why, store->path, 0, "the replications of run %s are damaged", run);
        }
        draws->count++;
    }
    return false;
}

static const char own_rows[] = "WHERE run = ? AND ranges = ? ORDER BY replication";

bool store_get_draws(struct store *store, const char *run, struct result_draws *draws,
                     struct error *why)
{
    sqlite3_stmt *statement = NULL;
    draws->values = NULL;
    draws->count = 0;
    bool ok = database_prepare_own(store, schema_select(table(), own_rows, why), &statement, why);
    if (ok) {
        sqlite3_bind_text(statement, 1, run, -1, SQLITE_STATIC);
        sqlite3_bind_text(statement, 2, draws->ranges, -1, SQLITE_STATIC);
        ok = store_draws_read_rows(store, statement, run, draws, why);
    }
    sqlite3_finalize(statement);
    if (!ok) {
        free(draws->values);
        draws->values = NULL;
        draws->count = 0;
    }
    return ok;
}

static bool join_ranges(struct store *into, struct store *from, const char *run, const char *ranges,
                        struct error *why)
{
    struct result_draws theirs = {.count = 0}, ours = {.count = 0};
    snprintf(theirs.ranges, sizeof theirs.ranges, "%s", ranges);
    snprintf(ours.ranges, sizeof ours.ranges, "%s", ranges);
    bool ok = store_get_draws(from, run, &theirs, why) && store_get_draws(into, run, &ours, why);
    uint32_t both = theirs.count < ours.count ? theirs.count : ours.count;
    if (ok && both > 0 && memcmp(theirs.values, ours.values, both * sizeof *ours.values) != 0) {
        ok = error_set(why, from->path, 0, "replications of run %s differ from those merged before",
                       run);
        error_expect(why, "files of one version of spillway, as they were written");
    }
    ok = ok && store_insert_draws(into, run, &theirs, why);
    free(theirs.values);
    free(ours.values);
    return ok;
}

bool store_join_draws(struct store *into, struct store *from, const char *run, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool row = true;
    bool ok = database_prepare(from, "SELECT DISTINCT ranges FROM replications WHERE run = ?",
                               &statement, why);
    if (ok) {
        sqlite3_bind_text(statement, 1, run, -1, SQLITE_STATIC);
    }
    while (ok && (ok = database_step(from, statement, &row, why)) && row) {
        const char *ranges = (const char *)sqlite3_column_text(statement, 0);
        ok = ranges == NULL || join_ranges(into, from, run, ranges, why);
    }
    sqlite3_finalize(statement);
    return ok;
}
