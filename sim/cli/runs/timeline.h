/* One layer of a schedule as text: a picture with a lane for each resource, a table of its stages
 * in order, and the bases of its time.
 *
 *   main stream   |pre |re|     |es| ...     a bar begins and ends at a '|'; its name is cut to
 *   copy to GPU        |transfer+1====|       the bar's width; +1: in the pass of the next layer
 *
 * A bar that is shorter than a column is a single '|'.
 *
 * The table has a row for the bars of one stage on one resource, with their number if above 1.
 * "for us" adds up the bars, "path us" their parts of the critical path; that column adds up to the
 * layer's time. The last row, "others", adds up launches that nothing waits for, and all work that
 * is shorter than a thousandth of the layer. */
#pragma once

#include "decode/time/pipeline.h"

/* Print layer number `layer`. */
bool layer_print(const struct layer_schedule *schedule, uint32_t layer, FILE *out,
                 struct error *why);
