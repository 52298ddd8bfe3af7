/* Which candidate of a plan wins, and which ones tie with it.
 *
 * The candidate with the best value, or the best figure, wins. A budget means something different
 * in every system, so if the axis is the budget, the run that takes the least HBM wins. Ties are
 * broken by less HBM, then by less time from arrival to the last token, then by less time per
 * token. Among candidates with the same figures the simplest wins: its preset sets the fewest
 * mechanisms. After that, the first.
 */
#pragma once

#include "study/plan/planning.h"

/* Set the plan's `winner` and `nearest` from what its searches found. */
void winner_find(struct planning *planning);

/* Is it the search that won? */
bool winner_is(const struct planning *planning, const struct search *search);

/* Does `search` reach the same value as the winner without being it, or a figure too close to its
 * own to say which is better? Always false for budgets, which every system spends in its own way.
 * The plan must have a winner. */
bool winner_ties(const struct planning *planning, const struct search *search);

/* Where no value meets all targets: those that some value meets, and the value nearest to all. A
 * target out of reach must not hide that the others can be met. */

/* The targets among `all` that at least one tried value of the search meets. */
void reachable_targets(const struct search *search, const struct targets *all, struct targets *out);

/* The targets among `all` that no tried value of any search meets. */
void reachable_open(const struct planning *planning, const struct targets *all,
                    struct targets *out);

/* The value nearest to meeting `all`, which the search was judged by: among the tried values that
 * meet every reachable target, the first with the least violation. If none meets them together, and
 * for loads, that of grid_nearest(). PLANNING_NONE if every tried value is impossible. */
uint32_t reachable_nearest(const struct search *search, const struct targets *all);
