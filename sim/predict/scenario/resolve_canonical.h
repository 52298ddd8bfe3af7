/* The resolved scenario as canonical text. It sets every key, so that equal runs have equal texts,
 * and the text is a scenario that reproduces its run. */
#pragma once

#include "core/node.h"
#include "predict/scenario/point.h"

/* Write `scenario` of the point, and of a server `decode_scenario`.
 *   root        the scenario as given
 *   mechanisms  as they were read; the point's may have been replaced by the model's own
 *   merged      those of preset and user */
bool resolve_canonical(const struct node *root, const struct mechanisms *mechanisms,
                       const struct node *merged, struct point *out, struct error *why);
