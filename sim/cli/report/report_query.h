/* The SQL of a picture or of a report's table: the selection by --only, beginnings that several
 * statements share, and an end of its own.
 *
 * The beginning joins two tables. `only` (key, value) is made here from texts KEY=VALUE; `keyed` (id,
 * key, value) lists all that can be drawn. A run or curve is drawn if, for every key that is named, it
 * has one of the named values (alike() of store/store.c).
 *
 * The files are written as one WITH. What is run makes each of its tables a temporary table of the
 * connection first: store_query() runs all of it. Statements that begin alike make the tables of
 * that beginning once, so that runs may not be added between two statements of one connection. */
#pragma once

#include "store/store.h"
#include "tables/frame.h"

struct plot_statement {
    /* Files of the folder plots, without their .sql, and blanks between them. "cells", behind runs.sql, is
     * the table `cell` (id, place, key, what, value): a row for each column of each run, so that no query
     * has to list the columns of results. */
    const char *begin;
    const char *end;         /* the last file */
    const char *select;      /* in its place; NULL: none */
    const char *const *only; /* [only_count] */
    uint32_t only_count;
};

/* FOLDER/NAME.KIND of the program's data, which the caller frees; and a copy of it. */
char *plot_file(const char *folder, const char *name, const char *kind, size_t *size,
                struct error *why);
bool plot_copy_file(const char *folder, const char *name, const char *kind, FILE *out,
                    struct error *why);

/* Run it on `store`, and hand each row of the last SELECT to `row`. */
bool plot_query(const struct plot_statement *statement, struct store *store, store_row row,
                void *context, struct error *why);

/* Refuse a text that is not KEY=VALUE, and a key or a value that nothing in the database has. */
bool plot_only_check(const struct plot_statement *statement, struct store *store,
                     struct error *why);

/* The result of a report's query (names of columns, and texts). As an HTML table, columns of numbers are
 * aligned right, with three digits; empty columns are left out, and so are rows beyond a limit, which a line
 * counts. */

struct report_table {
    json_t *columns; /* an object whose keys are their names, in order; owned */
    json_t *rows;    /* an array of objects, from names to texts or null; owned */
    bool pivot;
};

/* Run the query plots/report/NAME.sql on `store`, after the files of `begin`. With `pivot`, the last two
 * columns are a name and a value: rows alike in the others become one, and each name becomes a column. */
bool report_table_read(struct store *store, const char *begin, const char *name, bool pivot,
                       struct report_table *out, struct error *why);
void report_table_release(struct report_table *table);
size_t report_table_rows(const struct report_table *table);

/* A cell; "" if it is null, or if there is no such column. */
const char *report_table_text(const struct report_table *table, size_t row, const char *column);

/* Write the first `most` rows, under `caption`. */
void report_table_write(const struct report_table *table, const char *caption, size_t most,
                        FILE *out);

/* Write a text, escaped for use between tags and between double quotes; control characters become blanks. And
 * like printf with `format`, whose only conversion is %s, a text escaped so. */
void html_text(const char *text, FILE *out);
void html_print(FILE *out, const char *format, ...);

/* The rows of the pictures of a database's contents. */

struct picture_kind {
    const char *name;
    const char *begin; /* the files that begin its statement */
    const char *needs; /* which runs it needs, for the message if there are none */
    const char *row;   /* what it draws several of: the kind of row that stands for one */
    uint32_t most;     /* the most of them in one picture */
    const char *summary;
};
extern const struct picture_kind picture_kinds[]; /* ends with name NULL */

struct picture {
    const struct picture_kind *kind;
    FILE *rows;     /* to draw, tab-separated */
    uint32_t count; /* number of the kind's rows */
};

/* Read the rows that have, for every key in `only` (texts KEY=VALUE), one of its values. */
bool picture_read(struct store *store, const struct picture_kind *kind, const char *const *only,
                  uint32_t only_count, struct picture *out, struct error *why);
void picture_release(struct picture *picture);

/* The page of one question: a verdict first, then the page of its runs. */

struct report_answer {
    const char *title;           /* of the page */
    struct store *store;         /* with the question's runs, and others perhaps */
    const struct frame *verdict; /* cli/advise/advise.h */
    const char *run;             /* the advised one; NULL: nothing is advised */
    const char *targets;         /* "tpot_ms<=50ms, ...": the limits that it met */
};

bool report_answer(const struct report_answer *answer, const char *path, struct error *why);
