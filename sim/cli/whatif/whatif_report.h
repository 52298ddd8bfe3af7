/* A what-if study for people: a table of its points, and conclusions.
 *
 * Along one axis a row is a point; over a grid a cell is a point and shows its measure.
 */
#pragma once

#include <stdio.h>

#include "predict/result/shown.h"
#include "study/whatif/whatif_study.h"
#include "tables/frame.h"

/* The columns of a table along an axis: of decode steps, or of a server. Returns their number. */
uint32_t whatif_columns(bool serves, struct frame_column out[TABLE_MOST_COLUMNS]);

/* `view` names columns of whatif_columns(). */
bool whatif_report(const struct whatif *whatif, const struct table_view *view, FILE *out,
                   struct error *why);
