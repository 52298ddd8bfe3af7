/* bind_##type(): binds a value by the type that a list of columns names. */
#ifndef STORE_BIND_H
#define STORE_BIND_H

#include "store/database.h"

/* A NULL text becomes null. */
static inline void bind_TEXT(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static inline void bind_INTEGER(sqlite3_stmt *statement, int at, int64_t number)
{
    sqlite3_bind_int64(statement, at, number);
}

/* NaN becomes null: https://www.sqlite.org/c3ref/bind_blob.html */
static inline void bind_REAL(sqlite3_stmt *statement, int at, double number)
{
    sqlite3_bind_double(statement, at, number);
}

static inline void bind_US(sqlite3_stmt *statement, int at, double number)
{
    bind_REAL(statement, at, number);
}

#endif
