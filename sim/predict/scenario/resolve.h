/* From the tree of one point to the point: reads every key and looks up every name. */
#pragma once

#include "core/node.h"
#include "predict/scenario/point.h"
#include "predict/scenario/scenario_keys.h"
#include "predict/scenario/sources.h"

/* Resolve `root`, a scenario's map whose `hardware` is a map; `sweep` is ignored. Files are read
 * through `sources`, which is not NULL; `out` gets a reference to it. The caller releases `out`
 * with point_release(); after a failure there is nothing to release. */
bool resolve_point(const struct node *root, struct sources *sources, struct point *out,
                   struct error *why);

/* Read how GPUs share the model; without these keys there is one. */
bool resolve_gpus(const struct node *root, struct scenario_gpus *out, struct error *why);
