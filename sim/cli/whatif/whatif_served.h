/* What-if studies of servers: their table, and what is said of the requests that come.
 *
 * An axis says what rate is asked for, and arrivals are a draw of it: how many come is told, by a
 * column where that differs from point to point, else by a line.
 */
#ifndef CLI_WHATIF_WHATIF_SERVED_H
#define CLI_WHATIF_WHATIF_SERVED_H

#include "study/whatif/whatif.h"

#include <stdio.h>

/* A row a point along one axis. */
bool whatif_served_table(const struct whatif *whatif, const struct whatif_findings *findings,
                         FILE *out, struct error *why);

/* Where more requests come than are answered, and how many come. Nothing where there are none. */
void whatif_served_load(const struct whatif *whatif, const struct whatif_findings *findings,
                        FILE *out);

#endif
