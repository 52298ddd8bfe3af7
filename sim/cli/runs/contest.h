/* Which run beats which, draw by draw.
 *
 * Replications of two runs are of the same machines, so that each draw is a match: who decodes more
 * tokens a second, or of servers who answers sooner. Runs of a group are ranked by their means, and
 * each is matched with the next one, over the draws that both have.
 */
#ifndef CLI_RUNS_CONTEST_H
#define CLI_RUNS_CONTEST_H

#include "result/result.h"

#include <stdio.h>

struct contest;

/* `precision`: what the interval of each run was to be within, as a share; 0: whatever comes. */
struct contest *contest_create(double precision, struct error *why);
void contest_destroy(struct contest *contest); /* NULL is fine */

/* Take in a run, if it has replications. `title` says what the runs of its group have in common, or
 * is "". Texts and draws are copied. */
bool contest_add(struct contest *contest, size_t group, const char *title, const char *name,
                 const struct result *result, struct error *why);

/* Print, once: a paragraph on what was drawn, what is said of single runs (cli/frame/drawn.h), and
 * a paragraph for each group on who beats whom; nothing without replications. */
void contest_print(struct contest *contest, FILE *out);

#endif
