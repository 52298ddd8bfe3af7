/* From the tree of one point to a setup: every key read, every name looked up. */
#ifndef SCENARIO_RESOLVE_H
#define SCENARIO_RESOLVE_H

#include "base/node.h"
#include "scenario/point.h"
#include "scenario/sources.h"

/* Resolve `root`, a scenario's map with its `hardware` opened (a map); any `sweep` is ignored. Files
 * are read through `sources`, of which `out` gets a reference. The caller releases `out` with
 * point_release(); after a failure there is nothing to release. */
bool resolve_point(const struct node *root, struct sources *sources, struct point *out,
                   struct error *why);

#endif
