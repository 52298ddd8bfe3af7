/* The SQL of a picture, or of a table of a report: what the option --only keeps, beginnings that
 * several share, and an end of its own.
 *
 * The tables `only` (key, value) and `keyed` (id, key, value) meet in the beginning: `only` is made
 * here from "KEY=VALUE" texts; `keyed` there, of all that can be drawn. What is drawn has, of every
 * key that is named, one of the values that are.
 */
#ifndef CLI_REPORT_PLOT_STATEMENT_H
#define CLI_REPORT_PLOT_STATEMENT_H

#include "store/store.h"

struct plot_statement {
    const char *const *begin; /* files of the folder plots, without their .sql; ends with NULL */
    const char *end;          /* one more */
    const char *const *only;  /* [only_count] */
    uint32_t only_count;
};

/* Refuse what is not KEY=VALUE, and a key that nothing in the database has. */
bool plot_statement_check(const struct plot_statement *statement, struct store *store,
                          struct error *why);

/* The text, which the caller frees; NULL on failure. */
char *plot_statement_text(const struct plot_statement *statement, struct error *why);

#endif
