/* Binding what a list of columns says by the type that it names: bind_##type(). */
#ifndef STORE_BIND_H
#define STORE_BIND_H

#include "store/database.h"

/* NULL is null. */
static inline void bind_TEXT(sqlite3_stmt *statement, int at, const char *text)
{
    sqlite3_bind_text(statement, at, text, -1, SQLITE_STATIC);
}

static inline void bind_INTEGER(sqlite3_stmt *statement, int at, int64_t number)
{
    sqlite3_bind_int64(statement, at, number);
}

/* NaN is null: https://www.sqlite.org/c3ref/bind_blob.html */
static inline void bind_REAL(sqlite3_stmt *statement, int at, double number)
{
    sqlite3_bind_double(statement, at, number);
}

static inline void bind_US(sqlite3_stmt *statement, int at, double number)
{
    bind_REAL(statement, at, number);
}

#endif
