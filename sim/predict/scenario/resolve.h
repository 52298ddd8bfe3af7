/* From a scenario of one point to the point: looks up every name and checks what contradicts. */
#pragma once

#include "predict/scenario/scenario.h"

/* Resolve `scenario`, whose `hardware` is a map; its sweep is ignored. Files are read through its
 * sources, which are not NULL; `out` gets a reference to them. The caller releases `out` with
 * point_release(); after a failure there is nothing to release. */
bool resolve_point(const struct scenario *scenario, struct point *out, struct error *why);

/* Read how GPUs share the model; without these keys there is one. */
bool resolve_gpus(const struct scenario *scenario, struct scenario_gpus *out, struct error *why);
