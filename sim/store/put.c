/* Putting a run: its row and its detail, in one transaction or not at all. */
#include "store/store.h"

#include "base/version.h"
#include "result/cell.h"
#include "store/database.h"
#include "store/schema.h"
#include "store/store_draws.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* A row of `runs`: the columns, the fixed texts, the version. */
#define RUN_FIELDS (COLUMN_COUNT + SCHEMA_TEXTS + 1)

static bool store_put_bind_number(sqlite3_stmt *statement, int at, double value)
{
    return (isnan(value) ? sqlite3_bind_null(statement, at)
                         : sqlite3_bind_double(statement, at, value)) == SQLITE_OK;
}

static bool store_put_bind_cell(sqlite3_stmt *statement, int at, const struct result *result,
                                enum column column)
{
    const struct cell *cell = &result->cells[column];
    if (!result_has(result, column)) {
        return sqlite3_bind_null(statement, at) == SQLITE_OK;
    }
    switch (column_kinds[column].type) {
    case COLUMN_TYPE_INTEGER:
        return sqlite3_bind_int64(statement, at, cell->integer) == SQLITE_OK;
    case COLUMN_TYPE_REAL:
        return store_put_bind_number(statement, at, cell->real);
    case COLUMN_TYPE_US:
        return store_put_bind_number(statement, at, (double)cell->integer / 1e3);
    case COLUMN_TYPE_MS:
        return store_put_bind_number(statement, at, (double)cell->integer / 1e6);
    default: {
        char buffer[CELL_SIZE];
        const char *text = cell_text(result, column, buffer);
        return sqlite3_bind_text(statement, at, text, -1, SQLITE_TRANSIENT) == SQLITE_OK;
    }
    }
}

static bool bind_run(sqlite3_stmt *statement, const struct result *result)
{
    int at = 1;
    for (int column = 0; column < COLUMN_COUNT; column++) {
        if (!store_put_bind_cell(statement, at++, result, (enum column)column)) {
            return false;
        }
    }
    for (int i = 0; i < SCHEMA_TEXTS; i++) {
        const char *text = (const char *)result + schema_texts[i].offset;
        if (sqlite3_bind_text(statement, at++, text, -1, SQLITE_STATIC) != SQLITE_OK) {
            return false;
        }
    }
    return sqlite3_bind_text(statement, at, spillway_program, -1, SQLITE_STATIC) == SQLITE_OK;
}

/* "INSERT OR IGNORE INTO runs VALUES (?,?,...)" */
static void insert_run_sql(char *sql, size_t size)
{
    size_t used = (size_t)snprintf(sql, size, "INSERT OR IGNORE INTO runs VALUES (?");
    assert(used + 2 * RUN_FIELDS < size);
    for (int i = 1; i < RUN_FIELDS; i++) {
        memcpy(sql + used, ",?", 2);
        used += 2;
    }
    memcpy(sql + used, ")", 2);
}

static bool store_put_run(struct store *store, const struct result *result, bool *added,
                          struct error *why)
{
    char sql[64 + 2 * RUN_FIELDS];
    insert_run_sql(sql, sizeof sql);
    sqlite3_stmt *statement = NULL;
    bool row;
    bool ok = database_prepare(store, sql, &statement, why) &&
              (bind_run(statement, result) || database_error(store, why)) &&
              database_step(store, statement, &row, why);
    *added = ok && sqlite3_changes(store->database) > 0;
    sqlite3_finalize(statement);
    return ok;
}

/* Bind one row of a detail table: its key and its other columns. */
typedef void (*bind_row)(sqlite3_stmt *statement, const struct result *result, uint32_t index);

static void bind_item(sqlite3_stmt *statement, const struct result_item *item)
{
    sqlite3_bind_text(statement, 2, item->name, -1, SQLITE_STATIC);
    sqlite3_bind_double(statement, 3, (double)item->ns / 1e3);
}

static void bind_part(sqlite3_stmt *statement, const struct result *result, uint32_t index)
{
    bind_item(statement, &result->parts[index]);
}

static void bind_stall(sqlite3_stmt *statement, const struct result *result, uint32_t index)
{
    bind_item(statement, &result->stalls[index]);
}

static void bind_layer(sqlite3_stmt *statement, const struct result *result, uint32_t index)
{
    const struct result_layer *layer = &result->layers[index];
    sqlite3_bind_int64(statement, 2, index);
    sqlite3_bind_double(statement, 3, (double)layer->ns / 1e3);
    store_put_bind_number(statement, 4, layer->hit_ratio);
    sqlite3_bind_int64(statement, 5, layer->in_bytes);
}

static void bind_step(sqlite3_stmt *statement, const struct result *result, uint32_t index)
{
    const struct result_step *step = &result->steps[index];
    sqlite3_bind_int64(statement, 2, index);
    sqlite3_bind_double(statement, 3, (double)step->ns / 1e3);
    store_put_bind_number(statement, 4, step->hit_ratio);
    sqlite3_bind_int64(statement, 5, step->in_bytes);
    store_put_bind_number(statement, 6, step->mass_recall);
}

static void bind_ms(sqlite3_stmt *statement, int at, int64_t ns)
{
    store_put_bind_number(statement, at, ns < 0 ? NAN : (double)ns / 1e6);
}

static void bind_request(sqlite3_stmt *statement, const struct result *result, uint32_t index)
{
    const struct result_request *request = &result->requests[index];
    const int64_t numbers[] = {index,
                               request->replica,
                               request->prompt,
                               request->output,
                               (int64_t)request->gpu_tokens,
                               (int64_t)request->host_tokens,
                               (int64_t)request->disk_tokens,
                               (int64_t)request->pool_tokens,
                               request->preemptions};
    for (int i = 0; i < 9; i++) {
        sqlite3_bind_int64(statement, 2 + i, numbers[i]);
    }
    bind_ms(statement, 11, request->arrived_ns);
    bind_ms(statement, 12, request->scheduled_ns);
    bind_ms(statement, 13, request->first_token_ns);
    bind_ms(statement, 14, request->end_ns);
}

static void bind_wait(sqlite3_stmt *statement, const struct result *result, uint32_t index)
{
    const struct result_wait *wait = &result->waits[index];
    sqlite3_bind_int64(statement, 2, wait->request);
    sqlite3_bind_text(statement, 3, wait->name, -1, SQLITE_STATIC);
    bind_ms(statement, 4, wait->ns);
}

static void bind_bin(sqlite3_stmt *statement, const struct result *result, uint32_t index)
{
    const struct result_bin *bin = &result->bins[index];
    sqlite3_bind_int64(statement, 2, index);
    bind_ms(statement, 3, bin->start_ns);
    bind_ms(statement, 4, bin->ns);
    for (int i = 0; i < RESULT_SERIES; i++) {
        store_put_bind_number(statement, 5 + i, bin->figures[i]);
    }
}

static void bind_family(sqlite3_stmt *statement, const struct result *result, uint32_t index)
{
    const struct result_family *family = &result->families[index];
    sqlite3_bind_int64(statement, 2, index);
    sqlite3_bind_text(statement, 3, family->name, -1, SQLITE_STATIC);
    for (int i = 0; i < RANGE_COUNT; i++) {
        store_put_bind_number(statement, 4 + i, family->values[i]);
    }
}

static void bind_mass(sqlite3_stmt *statement, const struct result *result, uint32_t index)
{
    const struct result_mass *mass = &result->masses[index];
    sqlite3_bind_int64(statement, 2, mass->family);
    sqlite3_bind_int64(statement, 3, mass->step);
    store_put_bind_number(statement, 4, mass->mass_recall);
}

/* Columns with INTEGER affinity store whole numbers as integers. */
#define COLUMN(name, type, what) ",?"
static const char series_sql[] = "INSERT INTO series VALUES (?,?,?,?"
#include "result/series.def"
                                 ")";
#undef COLUMN

static const char families_sql[] = "INSERT INTO families VALUES (?,?,?"
#define COLUMN(id, name, type, what)
#define RANGED(id, name, type, what) ",?"
#include "result/columns.def"
#undef COLUMN
                                   ")";

static const struct {
    const char *sql;
    size_t count; /* offset of the number of rows in the result */
    bind_row bind;
} details[] = {
#define COUNT(what) offsetof(struct result, what##_count)
    {"INSERT INTO parts VALUES (?,?,?)", COUNT(part), bind_part},
    {"INSERT INTO stalls VALUES (?,?,?)", COUNT(stall), bind_stall},
    {"INSERT INTO layers VALUES (?,?,?,?,?)", COUNT(layer), bind_layer},
    {"INSERT INTO steps VALUES (?,?,?,?,?,?)", COUNT(step), bind_step},
    {"INSERT INTO requests VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?)", COUNT(request), bind_request},
    {"INSERT INTO waits VALUES (?,?,?,?)", COUNT(wait), bind_wait},
    {series_sql, COUNT(bin), bind_bin},
    {families_sql, COUNT(family), bind_family},
    {"INSERT INTO masses VALUES (?,?,?,?)", COUNT(mass), bind_mass},
#undef COUNT
};

static bool store_put_rows(struct store *store, const struct result *result, const char *sql,
                           uint32_t count, bind_row bind, struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool ok = database_prepare(store, sql, &statement, why);
    for (uint32_t i = 0; ok && i < count; i++) {
        bool row;
        sqlite3_bind_text(statement, 1, result->cells[COLUMN_RUN].text, -1, SQLITE_STATIC);
        bind(statement, result, i);
        ok = database_step(store, statement, &row, why);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return ok;
}

static bool put_all(struct store *store, const struct result *result, struct error *why)
{
    bool added;
    bool ok = store_put_run(store, result, &added, why);
    for (size_t i = 0; ok && added && i < sizeof details / sizeof *details; i++) {
        uint32_t count;
        memcpy(&count, (const char *)result + details[i].count, sizeof count);
        ok = store_put_rows(store, result, details[i].sql, count, details[i].bind, why);
    }
    return ok;
}

bool store_put(struct store *store, const struct result *result, struct error *why)
{
    assert(result->cells[COLUMN_RUN].set);
    const char *run = result->cells[COLUMN_RUN].text;
    bool ok = database_run(store, "BEGIN IMMEDIATE", why) && put_all(store, result, why) &&
              store_insert_draws(store, run, &result->draws, why);
    return database_end(store, ok, why);
}
