/* The SQL of a picture or of a report's table: the selection by --only, beginnings that several
 * statements share, and an end of its own.
 *
 * The beginning joins two tables. `only` (key, value, list) is made here from texts "KEY=LIST", with
 * a row for each item of a list, and one for the whole of it; `keyed` (id, key, value) lists all that
 * can be drawn. A run or curve is drawn if, for every key that is named, it has one of the named
 * values. If something has the whole list as a value, as "qsac, eta 0.8", its items do not count.
 *
 * The files are written as one WITH. What is run makes each of its tables a temporary table of the
 * connection first: store_query() runs all of it. Statements that begin alike make the tables of
 * that beginning once, so that runs may not be added between two statements of one connection.
 */
#pragma once

#include <stdio.h>

#include "store/store.h"

/* The table `cell` (id, place, key, what, value): a row for each column of each run, so that no query
 * has to list the columns of results. */
#define PLOT_CELLS "cells"

struct plot_statement {
    const char *const *begin; /* files of the folder plots, without their .sql, or PLOT_CELLS behind
                               * runs.sql; ends with NULL */
    const char *end;          /* the last file */
    const char *const *only;  /* [only_count] */
    uint32_t only_count;
};

/* Copy FOLDER/NAME.KIND of the program's data. */
bool plot_copy_file(const char *folder, const char *name, const char *kind, FILE *out,
                    struct error *why);

/* Returns the text, which the caller frees; NULL on failure. */
char *plot_statement_text(const struct plot_statement *statement, struct error *why);

/* Refuse a text that is not KEY=VALUE,..., a key that nothing in the database has, and a value that
 * nothing has for its key. */
bool plot_only_check(const struct plot_statement *statement, struct store *store,
                     struct error *why);
