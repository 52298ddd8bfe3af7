/* Pictures drawn by gnuplot, from rows in memory and a script in the folder plots. Rows and picture
 * are passed by names that the child process opens. */
#pragma once

#include "core/error.h"

#include <stdio.h>

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
