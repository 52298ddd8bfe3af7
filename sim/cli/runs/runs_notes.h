/* What is said of all runs, above and below their table.
 *
 * Above: what the hit ratios rest on, and what all runs share. Below: what a person should know of
 * some runs, on which figures the times rest, and how many runs go beyond what was recorded.
 */
#ifndef CLI_RUNS_RUNS_NOTES_H
#define CLI_RUNS_RUNS_NOTES_H

#include "result/result.h"

#include <stdio.h>

struct runs_notes;

struct runs_notes *runs_notes_create(struct error *why);
void runs_notes_destroy(struct runs_notes *notes);

/* Take note of a run; of the result only texts are kept. */
bool runs_notes_add(struct runs_notes *notes, const struct result *result, struct error *why);

void runs_notes_print_above(const struct runs_notes *notes, FILE *out);
void runs_notes_print_below(const struct runs_notes *notes, FILE *out);

#endif
