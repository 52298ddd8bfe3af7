/* Putting curves: the old points of a curve are deleted first, as it may have had other sizes. */
#include "store/database.h"
#include "store/store_curve.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static uint64_t hash_text(const char *text, uint64_t seed)
{
    return XXH64(text, strlen(text) + 1, seed);
}

static void write_name(const struct store_curve *curve, char name[17])
{
    const int64_t numbers[] = {curve->blocks, curve->unit_tokens, curve->warmup, curve->layer,
                               curve->head};
    uint64_t hash = XXH64(numbers, sizeof numbers, curve->policy_content);
    hash = XXH64(&curve->selection, sizeof curve->selection, hash);
    hash = hash_text(curve->source_hash, hash_text(curve->step_order, hash));
    hash = hash_text(curve->policy, hash_text(curve->parameters, hash));
    snprintf(name, 17, "%016" PRIx64, hash);
}

static void bind_text(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

/* A parameter that is not bound is null. */
static void bind_whole(sqlite3_stmt *statement, int at, int64_t number)
{
    if (number >= 0) {
        sqlite3_bind_int64(statement, at, number);
    }
}

static bool run_statement(struct store *store, sqlite3_stmt *statement, struct error *why)
{
    bool row, ok = database_step(store, statement, &row, why);
    sqlite3_reset(statement);
    return ok;
}

static bool put_row(struct store *store, const struct store_curve *curve, const char *name,
                    struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool ok = database_prepare(
        store, "INSERT OR REPLACE INTO curves VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)", &statement,
        why);
    if (ok) {
        const char *texts[] = {name, curve->source, curve->source_hash};
        for (int i = 0; i < 3; i++) {
            bind_text(statement, i + 1, texts[i]);
        }
        bind_whole(statement, 4, curve->blocks);
        bind_whole(statement, 5, curve->unit_tokens);
        if (curve->selection >= 0) {
            sqlite3_bind_double(statement, 6, curve->selection);
        }
        bind_text(statement, 7, curve->step_order);
        bind_whole(statement, 8, curve->warmup);
        bind_text(statement, 9, curve->policy);
        bind_text(statement, 10, curve->policy_title);
        bind_text(statement, 11, curve->parameters);
        bind_whole(statement, 12, curve->layer);
        bind_whole(statement, 13, curve->head);
        bind_whole(statement, 14, (int64_t)curve->accesses);
        bind_whole(statement, 15, curve->knee);
        ok = run_statement(store, statement, why);
    }
    sqlite3_finalize(statement);
    return ok;
}

static bool remove_points(struct store *store, const char *name, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool ok = database_prepare(store, "DELETE FROM curve_points WHERE curve = ?", &statement, why);
    if (ok) {
        bind_text(statement, 1, name);
        ok = run_statement(store, statement, why);
    }
    sqlite3_finalize(statement);
    return ok;
}

/* A size that occurs twice becomes one point. */
static bool put_points(struct store *store, const struct store_curve *curve, const char *name,
                       struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool ok = database_prepare(store, "INSERT OR REPLACE INTO curve_points VALUES (?,?,?)",
                               &statement, why);
    for (uint32_t i = 0; ok && i < curve->count; i++) {
        bind_text(statement, 1, name);
        bind_whole(statement, 2, curve->sizes[i]);
        bind_whole(statement, 3, (int64_t)curve->misses[i]);
        ok = run_statement(store, statement, why);
    }
    sqlite3_finalize(statement);
    return ok;
}

static bool put_curve(struct store *store, const struct store_curve *curve, struct error *why)
{
    char name[17];
    write_name(curve, name);
    return put_row(store, curve, name, why) && remove_points(store, name, why) &&
           put_points(store, curve, name, why);
}

bool store_put_curves(struct store *store, const struct store_curve *curves, uint32_t count,
                      struct error *why)
{
    bool ok = database_run(store, "BEGIN IMMEDIATE", why);
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = put_curve(store, &curves[i], why);
    }
    ok = ok && database_run(store, "COMMIT", why);
    if (!ok && !sqlite3_get_autocommit(store->database)) {
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    }
    return ok;
}
