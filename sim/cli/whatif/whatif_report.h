/* A what-if study for people: a table of its points, and conclusions.
 *
 * Along one axis a row is a point; over a grid a cell is a point and shows its measure.
 */
#ifndef CLI_WHATIF_WHATIF_REPORT_H
#define CLI_WHATIF_WHATIF_REPORT_H

#include "answer/frame.h"
#include "study/whatif/whatif.h"

#include <stdio.h>

/* The columns of a table along an axis: of decode steps, or of a server. Returns their number. */
uint32_t whatif_columns(bool serves, struct frame_column out[TABLE_MOST_COLUMNS]);

/* `view` names columns of whatif_columns(). */
bool whatif_report(const struct whatif *whatif, const struct table_view *view, FILE *out,
                   struct error *why);

/* ---- parts of it that have a file of their own ---- */

/* Print a table: a row per point along one axis, or a cell per point of a grid, which shows the
 * measure alone. */
bool whatif_points_table(const struct whatif *whatif, const struct whatif_findings *findings,
                         const struct table_view *view, FILE *out, struct error *why);
bool whatif_grid_table(const struct whatif *whatif, const struct whatif_findings *findings,
                       const struct table_view *view, FILE *out, struct error *why);

#endif
