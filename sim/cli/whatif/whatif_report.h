/* A what-if study for people: a table of its points, and what follows from them.
 *
 * Along one axis a row is a point; over a grid a cell is one, of which it shows the rate.
 */
#ifndef CLI_WHATIF_WHATIF_REPORT_H
#define CLI_WHATIF_WHATIF_REPORT_H

#include "study/whatif/whatif.h"

#include <stdio.h>

bool whatif_report(const struct whatif *whatif, FILE *out, struct error *why);

/* ---- parts of it that have a file of their own ---- */

/* Along one axis of a server: a row a point. An axis says what rate is asked for, and arrivals are
 * a draw of it: how many come is told, by a column where that differs from point to point, else by
 * a line. */
bool whatif_served_table(const struct whatif *whatif, const struct whatif_findings *findings,
                         FILE *out, struct error *why);

/* Where more requests come than are answered, and how many come. Nothing where there are none. */
void whatif_served_load(const struct whatif *whatif, const struct whatif_findings *findings,
                        FILE *out);

/* Host memory walked for a system that keeps no KV there: why all points are the same. Nothing
 * where host memory is no axis, or a point has KV there. */
void whatif_host_print(const struct whatif *whatif, FILE *out);

/* Where a faster link does not help, as CPU stores into GPU memory are as fast as their threads: a
 * line for each axis of the link, or of a figure of it, along which a system that fetches by CPU
 * stores is held up by these at several values in a row. */
void whatif_stores_print(const struct whatif *whatif, FILE *out);

#endif
