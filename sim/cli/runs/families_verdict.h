/* How often the order of systems flips between families of recordings.
 *
 * Runs of a group are compared by tokens per second, for each family alone: a run with ranges by
 * what that family gave, a run whose hits need no trace by its only figure.
 */
#ifndef CLI_RUNS_FAMILIES_VERDICT_H
#define CLI_RUNS_FAMILIES_VERDICT_H

#include "result/result.h"

#include <stdio.h>

struct families_verdict;

struct families_verdict *families_verdict_create(struct error *why);
void families_verdict_destroy(struct families_verdict *verdict); /* may be NULL */

/* Add a run, if it has tokens per second. `title` says what the runs of its group have in common,
 * or is "". Texts are copied. */
bool families_verdict_add(struct families_verdict *verdict, size_t group, const char *title,
                          const char *name, const struct result *result, struct error *why);

/* Print a line for each group of two runs or more, if at least one of them has families: "litecache
 * is fastest for 2 of 3 families; the order of clo and litecache flips for 1 of 3
 * (gemma-3-270m)". */
void families_verdict_print(const struct families_verdict *verdict, FILE *out);

#endif
