/* Which run beats which, draw by draw.
 *
 * Replications of two runs use the same machines, so each draw is a match: the run that decodes
 * more tokens a second wins, or the server that answers sooner. Runs of a group are ranked by their
 * means, and each is matched with the next one, over the draws that both have.
 */
#ifndef CLI_RUNS_CONTEST_H
#define CLI_RUNS_CONTEST_H

#include "result/result.h"

#include <stdio.h>

struct contest;

/* `precision`: the requested half-width of each run's interval, as a share of its mean; 0: none. */
struct contest *contest_create(double precision, struct error *why);
void contest_destroy(struct contest *contest); /* may be NULL */

/* Add a run, if it has replications. `title` says what the runs of its group have in common, or is
 * "". Texts and draws are copied. */
bool contest_add(struct contest *contest, size_t group, const char *title, const char *name,
                 const struct result *result, struct error *why);

/* Print, once: a paragraph on the draws, the remarks on single runs (cli/frame/drawn.h), and one
 * paragraph per group on which run beats which; nothing without replications. */
void contest_print(struct contest *contest, FILE *out);

#endif
