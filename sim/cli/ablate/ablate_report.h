/* An ablation: its rows as data; and for people a table, the keys that change, and conclusions in
 * sentences. */
#pragma once

#include <stdio.h>

#include "predict/result/shown.h"
#include "study/ablate/ablation.h"
#include "tables/frame.h"

/* The columns of the rows below. */
const struct frame_column *ablate_columns(uint32_t *count);

/* The rows. `view`: of a table for people; NULL: of JSON and the database, also with those of
 * mechanisms that change no step. NULL as of frame_create_view(). The caller frees it. */
struct frame *ablate_frame(const struct ablation *ablation, const struct table_view *view,
                           struct error *why);

bool ablate_report(const struct ablation *ablation, const struct table_view *view, FILE *out,
                   struct error *why);
