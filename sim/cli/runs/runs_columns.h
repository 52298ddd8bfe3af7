/* The columns of tables of runs, after those that name a run. */
#pragma once

#include "tables/frame.h"

/* Of runs of decode steps, or of a server. The column "best" of decode steps is set by who knows
 * the other runs. */
const struct frame_column *runs_columns(bool serves, uint32_t *count);

/* Fill a row of these columns; a run with replications shows means over the draws. */
bool runs_fill(struct frame *frame, const struct result *result, struct error *why);
void runs_fill_served(struct frame *frame, const struct result *result);
