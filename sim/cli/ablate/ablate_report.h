/* An ablation for people: a table, the keys that change, and conclusions in sentences. */
#ifndef CLI_ABLATE_ABLATE_REPORT_H
#define CLI_ABLATE_ABLATE_REPORT_H

#include "cli/frame/table.h"
#include "study/ablate/ablation.h"

#include <stdio.h>

/* The columns that a reader can choose. */
const struct table_column *ablate_columns(uint32_t *count);

bool ablate_report(const struct ablation *ablation, const struct table_view *view, FILE *out,
                   struct error *why);

#endif
