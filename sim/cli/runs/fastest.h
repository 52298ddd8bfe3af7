/* Which run of a group is the fastest, and which tie with it.
 *
 * Runs of a group are compared by tokens per second (result/tie.h). With families of recordings a
 * line also says how often the order of two neighbours flips between families.
 */
#ifndef CLI_RUNS_FASTEST_H
#define CLI_RUNS_FASTEST_H

#include "result/result.h"

#include <stdio.h>

struct fastest;

struct fastest *fastest_create(struct error *why);
void fastest_destroy(struct fastest *fastest); /* may be NULL */

/* Add a run, if it has tokens per second. `title` says what the runs of its group have in common,
 * or is "". Texts are copied. */
bool fastest_add(struct fastest *fastest, size_t group, const char *title, const char *name,
                 const struct result *result, struct error *why);

/* Print a line for each group of two runs or more, if one of them has families or ties with the
 * fastest: "litecache is fastest for 3 of 3 families; the order of clo and h2o flips for 1 of 3
 * (gemma-3-270m)", "tied for fastest: litecache, clo (at most 2 % apart)". */
void fastest_print(const struct fastest *fastest, FILE *out);

#endif
