/* Pictures drawn by gnuplot, from rows in memory and a script in the folder plots. Rows and picture
 * are passed by names that the child process opens. */
#pragma once

#include <stdio.h>

#include "core/error.h"

/* The format that the picture's name ends in: svg, png or pdf; NULL with `why`. */
const char *drawing_format(const char *path, struct error *why);

/* A file in memory for the rows, tab-separated as plots/style.gp says; the caller closes it, and
 * flushes it before it is drawn. */
FILE *drawing_rows(struct error *why);

/* Write a cell, without the characters that would end it or that gnuplot interprets in a quoted
 * text: escapes, and backquotes, which run a command. */
void drawing_text(const char *text, FILE *rows);

/* Draw the rows by plots/SCRIPT.gp into `out`, which messages call `path`. */
bool drawing_draw(const char *script, FILE *rows, const char *format, const char *path, FILE *out,
                  struct error *why);

/* Draw them into a new file at `path`, in the format that its name ends in. */
bool drawing_save(const char *script, FILE *rows, const char *path, struct error *why);

/* Writing HTML: text from a file or a database is escaped, so it can only be text. */

/* Write a text, escaped for use between tags and between double quotes; control characters become
 * blanks. */
void html_text(const char *text, FILE *out);

/* Like printf with `format`, whose only conversion is %s, a text escaped as above. */
void html_print(FILE *out, const char *format, ...);

/* Write one word of a shell's command line, in quotes if it needs them. */
void html_word(const char *word, FILE *out);

/* Write gnuplot's SVG, a text that ends with '\0', for use within a page: without its XML head, as
 * wide as there is room, with the title `title`. Names (of `id` and references to them) get the
 * prefix `prefix`, because two pictures use the same names. */
void html_picture(const char *svg, const char *prefix, const char *title, FILE *out);
