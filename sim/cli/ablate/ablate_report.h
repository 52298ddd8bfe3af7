/* An ablation: its rows as data; and for people a table, the keys that change, and conclusions in
 * sentences. */
#ifndef CLI_ABLATE_ABLATE_REPORT_H
#define CLI_ABLATE_ABLATE_REPORT_H

#include "tables/frame.h"
#include "study/ablate/ablation.h"

#include <stdio.h>

/* The columns of the rows below. */
const struct frame_column *ablate_columns(uint32_t *count);

/* The rows. `view`: of a table for people; NULL: of JSON and the database, also with those of
 * mechanisms that change no step. NULL as of frame_create_view(). The caller frees it. */
struct frame *ablate_frame(const struct ablation *ablation, const struct table_view *view,
                           struct error *why);

bool ablate_report(const struct ablation *ablation, const struct table_view *view, FILE *out,
                   struct error *why);

#endif
