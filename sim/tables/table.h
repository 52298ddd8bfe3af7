/* Text in aligned columns, for people.
 *
 * Widths follow the cells. A table that would be too wide leaves out columns, highest `drop` first;
 * the last column then takes what is left of the line and is cut at a comma, or wrapped. A reader
 * who chooses columns (struct table_view) gets these and no others, however wide the line.
 */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Characters of a line where the output is no terminal, so that it is the same for all readers. Text
 * is never wider. */
#define TABLE_WIDTH 100

#define TABLE_MOST_COLUMNS 48

struct table_column {
    const char *title; /* copied */
    bool right;        /* aligned right, as numbers are */
    int drop;          /* 0: never left out */
    bool optional;     /* left out if it is NULL in every row */
    bool wrap;         /* for the last column: a long text continues below itself, uncut */
    const char *name;  /* by which a reader chooses the column; NULL: always shown, as row labels
                        * are. Static */
    const char *what;  /* its meaning, for help; NULL with `name` NULL. Static */
    bool extra;        /* shown only if it is chosen, or with all columns */
};

/* What a reader asked for. Zeroed: the usual columns and notes. */
struct table_view {
    bool wide;           /* all columns, in lines as long as they need */
    const char *columns; /* "batch,step": these, in this order; NULL: not chosen */
    bool why;            /* all notes below the table, also on what its figures rest on */
};

struct table;

struct table *table_create(const struct table_column *columns, uint32_t count, struct error *why);
void table_destroy(struct table *table);

/* Append a row; texts are copied. NULL shows as "-", in a column without a title as nothing. If
 * `cells` is less than the number of columns, the last text fills the rest of the line and is
 * wrapped. */
bool table_add(struct table *table, const char *const *texts, uint32_t cells, struct error *why);

/* Show what the view asks for: columns without a name first, then the chosen ones, which exist. */
void table_choose(struct table *table, const struct table_view *view);

/* Print head and rows; without titles there is no head. */
void table_print(const struct table *table, FILE *out);

/* Print a text from column `indent` to the end of the line, broken at blanks and continued below
 * itself. Neither indents the first line nor ends the last. */
void table_wrap(const char *text, size_t indent, FILE *out);

/* Print a line outside of a table: `label`, then the text, wrapped. */
void table_line(const char *label, const char *text, FILE *out);
