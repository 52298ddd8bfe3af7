/* The parts of the command `compare`. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include "study/papers/class_errors.h"

#include <stdbool.h>
#include <stdio.h>

/* The end of the page of papers, as Markdown: verdicts and errors by class, error bands, and the
 * figures that were read off rows. `errors`: out, those of each class of systems. Fails only if
 * memory runs out. */
bool compare_print_summary(const struct comparison *comparison,
                           struct class_errors errors[ERROR_BAND_COUNT], FILE *out,
                           struct error *why);

/* `compare DB --measured FILE`: print a table for each run of the database that served requests,
 * beside measurements of a real server, and draw their distributions into the file at `picture` (NULL:
 * none). */
bool compare_measured(const char *database, const char *measured, const char *picture,
                      struct error *why);

#endif
