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
