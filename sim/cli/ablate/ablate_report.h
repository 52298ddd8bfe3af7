/* An ablation for people: a table, the keys that change, and conclusions in sentences. */
#ifndef CLI_ABLATE_ABLATE_REPORT_H
#define CLI_ABLATE_ABLATE_REPORT_H

#include "study/ablate/ablation.h"

#include <stdio.h>

bool ablate_report(const struct ablation *ablation, FILE *out, struct error *why);

#endif
