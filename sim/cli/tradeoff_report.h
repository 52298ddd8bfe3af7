/* What is worth choosing among, for people. */
#ifndef CLI_TRADEOFF_REPORT_H
#define CLI_TRADEOFF_REPORT_H

#include "study/tradeoff.h"

#include <stdio.h>

bool tradeoff_report(const struct tradeoff *tradeoff, const struct targets *targets, FILE *out,
                     struct error *why);

#endif
