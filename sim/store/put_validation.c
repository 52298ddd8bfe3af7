#include "store/database.h"
#include "store/store_validation.h"

#include "base/version.h"

static void bind_TEXT(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static void bind_INTEGER(sqlite3_stmt *statement, int at, int64_t number)
{
    sqlite3_bind_int64(statement, at, number);
}

static void bind_REAL(sqlite3_stmt *statement, int at, double number)
{
    sqlite3_bind_double(statement, at, number);
}

static bool put_row(struct store *store, sqlite3_stmt *statement,
                    const struct store_validation *row, struct error *why)
{
    int at = 0;
    bool more;
#define COLUMN(name, type, what) bind_##type(statement, ++at, row->name);
#include "store/validations.def"
#undef COLUMN
    bind_TEXT(statement, ++at, SPILLWAY_VERSION);
    bool good = database_step(store, statement, &more, why);
    sqlite3_reset(statement);
    return good;
}

static const char insert[] = "INSERT OR REPLACE INTO validations VALUES ("
#define COLUMN(name, type, what) ":" #name ", "
#include "store/validations.def"
#undef COLUMN
                             ":version)";

static bool put_rows(struct store *store, const struct store_validation *rows, uint32_t count,
                     struct error *why)
{
    sqlite3_stmt *statement = NULL;
    bool good = database_prepare(store, insert, &statement, why);
    for (uint32_t i = 0; good && i < count; i++) {
        good = put_row(store, statement, &rows[i], why);
    }
    sqlite3_finalize(statement);
    return good;
}

bool store_put_validations(struct store *store, const struct store_validation *rows, uint32_t count,
                           struct error *why)
{
    bool good = database_run(store, "BEGIN IMMEDIATE", why) && put_rows(store, rows, count, why) &&
                database_run(store, "COMMIT", why);
    if (!good && !sqlite3_get_autocommit(store->database)) {
        sqlite3_exec(store->database, "ROLLBACK", NULL, NULL, NULL);
    }
    return good;
}
