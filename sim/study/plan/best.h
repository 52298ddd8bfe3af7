/* The figure by which runs are compared when the best one is wanted, such as the batch with the
 * most tokens per second. result/tie.h says when two are too close to call. */
#ifndef STUDY_PLAN_BEST_H
#define STUDY_PLAN_BEST_H

#include "result/result.h"

/* Read the key of a result. Fails for keys of which neither more nor less is better. `option` is
 * what messages name. */
bool best_read(const char *key, const char *option, enum column *out, struct error *why);

/* Is a smaller figure better? */
bool best_is_least(enum column column);

/* How good a run is: more is better. NaN if it did not succeed or has no such figure. */
double best_merit(enum column column, const struct result *result);

#endif
