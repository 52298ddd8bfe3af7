/* What replications say of a plan's values: how many draws meet the targets there, and how far the
 * figures that targets judge lie apart. */
#ifndef CLI_PLAN_PLAN_DRAWS_H
#define CLI_PLAN_PLAN_DRAWS_H

#include "study/plan/planning.h"

#include <stdio.h>

enum { PLAN_DRAWS = 2048 };

/* "retroinfer with a budget of 8.96 %: 14 of 20 draws meet all targets; tpot_ms 58.1 ± 2.3, 49 -
 * 70"; false where there are no draws of this value. */
bool plan_draws_say(const struct planning *planning, const struct targets *targets,
                    const struct quest *quest, char text[PLAN_DRAWS], bool *said,
                    struct error *why);

/* A line a candidate. */
bool plan_draws_print(const struct planning *planning, const struct targets *targets, FILE *out,
                      struct error *why);

#endif
