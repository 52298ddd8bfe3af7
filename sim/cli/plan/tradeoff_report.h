/* What is worth choosing among, for people. */
#ifndef CLI_PLAN_TRADEOFF_REPORT_H
#define CLI_PLAN_TRADEOFF_REPORT_H

#include "study/plan/tradeoff.h"

#include <stdio.h>

bool tradeoff_report(const struct tradeoff *tradeoff, const struct targets *targets, FILE *out,
                     struct error *why);

#endif
