/* An ablation: its rows as data; and for people a table, the keys that change, and conclusions in
 * sentences. */
#ifndef CLI_ABLATE_ABLATE_REPORT_H
#define CLI_ABLATE_ABLATE_REPORT_H

#include "answer/frame.h"
#include "study/ablate/ablation.h"

#include <stdio.h>

/* The columns of the rows below. */
const struct frame_column *ablate_columns(uint32_t *count);

/* The rows, for tables, JSON and the database; `idle`: with those of mechanisms that change no
 * step. NULL when memory is out. The caller frees it. */
struct frame *ablate_frame(const struct ablation *ablation, bool idle, struct error *why);

bool ablate_report(const struct ablation *ablation, const struct table_view *view, FILE *out,
                   struct error *why);

#endif
