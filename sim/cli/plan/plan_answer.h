/* The answer of a plan, in a sentence: who meets the targets, with which value, who else reaches
 * it, in how many draws where those are too few, and what the next better value misses; or who
 * comes nearest. Tables and reports say the same one.
 */
#ifndef CLI_PLAN_PLAN_ANSWER_H
#define CLI_PLAN_PLAN_ANSWER_H

#include "study/plan/planning.h"

enum { PLAN_ANSWER = 4096, PLAN_GOAL = 192 };

/* The last word of the axis' key. */
const char *plan_axis(const struct planning *planning);

/* "largest rate" */
void plan_goal(const struct planning *planning, char text[PLAN_GOAL]);

void plan_answer(const struct planning *planning, const struct targets *targets,
                 char text[PLAN_ANSWER]);

#endif
