/* One curve: a figure of a profile read into points, and its value at a size. Private to this
 * folder; other folders use profile.h. */
#pragma once

#include "machine/profile.h"

/* Read the node `figure` for curve `id`: a bare value, or a map with value or points, basis, source
 * and range. `out` is zeroed first and then owns its memory; on failure it is zeroed. */
bool curve_read(const struct node *figure, enum curve_id id, struct curve *out, struct error *why);
void curve_release(struct curve *curve);

/* The value at `size`: linear between points. Past an end it is the value at that end and
 * `*extrapolated` is set to true (otherwise it is not touched). A curve of one point has the same
 * value at every size. The curve must have points. */
double curve_value(const struct curve *curve, double size, bool *extrapolated);
