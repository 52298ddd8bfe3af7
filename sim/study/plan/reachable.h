/* Where no value meets all targets: those that some value meets, and the value nearest to all. A
 * target out of reach must not hide that the others can be met. */
#pragma once

#include "study/plan/planning.h"

/* The targets among `all` that at least one tried value of the search meets. */
void reachable_targets(const struct search *search, const struct targets *all, struct targets *out);

/* The targets among `all` that no tried value of any search meets. */
void reachable_open(const struct planning *planning, const struct targets *all,
                    struct targets *out);

/* The value nearest to meeting `all`, which the search was judged by: among the tried values that
 * meet every reachable target, the first with the least violation. If none meets them together, and
 * for loads, that of grid_nearest(). PLANNING_NONE if every tried value is impossible. */
uint32_t reachable_nearest(const struct search *search, const struct targets *all);
