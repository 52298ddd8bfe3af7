/* One curve: a figure of a profile read into points, and its value at a size. For the files of this
 * folder; everyone else goes through profile.h. */
#ifndef HARDWARE_CURVE_H
#define HARDWARE_CURVE_H

#include "hardware/profile.h"

/* Read the figure that `figure` states for curve `id`: a bare value, or a map with value or points,
 * basis, source and range. `out` is zeroed before and owns its memory after; on failure it is
 * zeroed. */
bool curve_read(const struct node *figure, enum curve_id id, struct curve *out, struct error *why);
void curve_release(struct curve *curve);

/* Value at `size`: linear between points, the end's past an end, where `*extrapolated` is set (it
 * is left alone otherwise). One point is the same at every size. The curve has points. */
double curve_value(const struct curve *curve, double size, bool *extrapolated);

#endif
