/* The answer of a plan, in one sentence, for tables and reports alike. It says which candidate
 * meets the targets, with which value, which others reach the same value, and which target the next better value misses. If no candidate meets the
 * targets, it names the nearest. */
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
