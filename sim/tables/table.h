/* Lines for people, and what a reader asks of a table (frame.h). */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Text is never wider, on any terminal and in a file. */
#define TABLE_WIDTH 100

#define TABLE_MOST_COLUMNS 48

/* What a reader asked for. Zeroed: the usual columns and notes. */
struct table_view {
    bool wide;           /* all columns, in lines as long as they need */
    const char *columns; /* "batch,step": these, in this order; NULL: not chosen */
    bool why;            /* all notes below the table, also on what its figures rest on */
};

/* Print a text from column `indent` to the end of the line, broken at blanks and continued below
 * itself. Neither indents the first line nor ends the last. */
void table_wrap(const char *text, size_t indent, FILE *out);

/* The same of a command, broken before its options so that a shell takes it whole. */
void table_command(const char *text, size_t indent, FILE *out);

/* Print a line outside of a table: `label`, then the text, wrapped. */
void table_line(const char *label, const char *text, FILE *out);
