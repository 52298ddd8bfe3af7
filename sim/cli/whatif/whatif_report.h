/* A what-if study for people: a table of its points, and conclusions.
 *
 * Along one axis a row is a point; over a grid a cell is a point and shows its measure.
 */
#ifndef CLI_WHATIF_WHATIF_REPORT_H
#define CLI_WHATIF_WHATIF_REPORT_H

#include "study/whatif/whatif.h"

#include <stdio.h>

bool whatif_report(const struct whatif *whatif, FILE *out, struct error *why);

/* ---- parts of it that have a file of their own ---- */

/* Print the table of a server along one axis, one row per point. An axis states the requested rate,
 * and arrivals are drawn from it. The rate of arrivals has a column if it differs from point to
 * point, else a line. */
bool whatif_served_table(const struct whatif *whatif, const struct whatif_findings *findings,
                         FILE *out, struct error *why);

/* Print where more requests arrive than are answered, and how many arrive; nothing without
 * requests. */
void whatif_served_load(const struct whatif *whatif, const struct whatif_findings *findings,
                        FILE *out);

/* Why all points are equal when host memory is varied for a system that keeps no KV there. */
void whatif_host_print(const struct whatif *whatif, FILE *out);

/* Print where a faster link does not help, because CPU stores into GPU memory are limited by their
 * threads: a line for each axis of the link, or of one of its figures, along which CPU stores limit
 * the fetches of a system at several neighbouring values. */
void whatif_stores_print(const struct whatif *whatif, FILE *out);

#endif
