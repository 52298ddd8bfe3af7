/* What --only selects, checked against the database: a key or a value that nothing has is an error,
 * never a selection of nothing. */
#ifndef CLI_REPORT_PLOT_ONLY_H
#define CLI_REPORT_PLOT_ONLY_H

#include "cli/report/plot_statement.h"

/* Refuse a text that is not KEY=VALUE,..., a key that nothing in the database has, and a value that
 * nothing has for its key. */
bool plot_only_check(const struct plot_statement *statement, struct store *store,
                     struct error *why);

#endif
