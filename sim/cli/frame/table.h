/* Text in aligned columns, for people.
 *
 * Widths follow the cells. A table that would be too wide leaves out columns, highest `drop` first;
 * the last column then takes what is left of the line and is cut at a comma, or wrapped.
 */
#ifndef CLI_FRAME_TABLE_H
#define CLI_FRAME_TABLE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TABLE_WIDTH 100
#define TABLE_MOST_COLUMNS 32

struct table_column {
    const char *title; /* copied */
    bool right;        /* aligned right, as numbers are */
    int drop;          /* 0: never left out */
    bool optional;     /* left out where no row has it: all are NULL */
    bool wrap;         /* the last column only: too long a text goes on below itself, uncut */
};

struct table;

struct table *table_create(const struct table_column *columns, uint32_t count, struct error *why);
void table_destroy(struct table *table);

/* Append a row; texts are copied, NULL shows as "-". With `cells` fewer than the table's columns,
 * the last text runs over the rest of the line and is wrapped. */
bool table_add(struct table *table, const char *const *texts, uint32_t cells, struct error *why);

/* Replace a cell of a row that is there. */
bool table_set(struct table *table, uint32_t row, uint32_t column, const char *text,
               struct error *why);

/* Print head and rows; without any title no head. */
void table_print(const struct table *table, FILE *out);

/* Print a text from column `indent` to the end of the line, broken at blanks and continued below
 * itself. Neither indents the first line nor ends the last. */
void table_wrap(const char *text, size_t indent, FILE *out);

/* A line of its own, outside of any table: the text behind `label`, wrapped. */
void table_line(const char *label, const char *text, FILE *out);

#endif
