/* SQLite with this program's errors: the inside of a store. Private to this folder. */
#pragma once

#include "store/store.h"

#include <sqlite3.h>

struct store {
    sqlite3 *database;
    char *path;                   /* as the user wrote it; "": no file */
    const struct stop_flag *stop; /* abandons statements; NULL: nothing does */
    bool spares_detail;           /* store_spare_detail() */
};

/* Run statements that return no rows. */
bool database_run(struct store *store, const char *sql, struct error *why);

/* Compile one statement on the heap, which it frees, for sqlite3_bind_* and sqlite3_step; free the result with
 * sqlite3_finalize(). NULL: `why` is set already. */
bool database_prepare_own(struct store *store, char *sql, sqlite3_stmt **statement,
                          struct error *why);

/* One step. `*row` is true for a row and false at the end. */
bool database_step(struct store *store, sqlite3_stmt *statement, bool *row, struct error *why);

/* The first number that a query answers, 0 if nothing; `text` is its parameter, or NULL. */
bool database_number(struct store *store, const char *sql, const char *text, int64_t *number,
                     struct error *why);

/* Run a statement for each of `count` rows, within the open transaction; `bind` binds one of `rows`. */
bool database_put_each(struct store *store, const char *sql,
                       void (*bind)(sqlite3_stmt *statement, const void *rows, uint32_t index),
                       const void *rows, uint32_t count, struct error *why);

/* End a transaction: keep what was put if all went well, else undo it. Returns whether it is kept. */
bool database_end(struct store *store, bool good, struct error *why);
