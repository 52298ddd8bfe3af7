/* A plan for people: a row a candidate, who wins and how sure that is, or what stands in the way.
 */
#ifndef CLI_PLAN_PLAN_REPORT_H
#define CLI_PLAN_PLAN_REPORT_H

#include "study/plan/planning.h"

#include <stdio.h>

bool plan_report(const struct planning *planning, const struct targets *targets, FILE *out,
                 struct error *why);

#endif
