/* Runs as a table for people: what the figures rest on, who is fastest, and where the time goes.
 *
 * A key that the scenario sweeps over several values has a column; what all runs share stands
 * above, and what a person should know of some of them below. Runs that do not fit in memory say
 * what is short.
 */
#ifndef CLI_RUNS_RUNS_TABLE_H
#define CLI_RUNS_RUNS_TABLE_H

#include "result/result.h"
#include "scenario/scenario.h"

#include <stdio.h>

struct runs_table;

/* `precision` of replications, as contest_create() takes it. */
struct runs_table *runs_table_create(const struct scenario *scenario, double precision,
                                     struct error *why);
void runs_table_destroy(struct runs_table *table);

/* Add the result of point `index`; of it only texts are kept. */
bool runs_table_add(struct runs_table *table, uint32_t index, const struct result *result,
                    struct error *why);

bool runs_table_print(struct runs_table *table, FILE *out, struct error *why);

#endif
