/* Runs as a table for people: what the figures rest on, which runs tie for the best, and where the time goes.
 * A key that the scenario sweeps over several values has a column. What all runs share is printed above the
 * table, notes on some of them below. A run that does not fit in memory says what is short. */
#pragma once

#include <stdio.h>

#include "predict/result/result.h"
#include "predict/scenario/scenario.h"
#include "tables/frame.h"
#include "tables/table.h"

struct runs_table;

/* Fails, too, if `view` names a column that there is not (runs_columns()); the table borrows it. */
struct runs_table *runs_table_create(const struct scenario *scenario, const struct table_view *view,
                                     struct error *why);
void runs_table_destroy(struct runs_table *table);

/* Add the result of point `index`; only texts of it are kept. */
bool runs_table_add(struct runs_table *table, uint32_t index, const struct result *result,
                    struct error *why);

bool runs_table_print(struct runs_table *table, FILE *out, struct error *why);

/* The columns of tables of runs, after those that name a run: of decode steps, or of a server. The column
 * "best" of decode steps is set by who knows the other runs. */
const struct frame_column *runs_columns(bool serves, uint32_t *count);
