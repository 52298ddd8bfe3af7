/* The keys of a scenario about a server and its requests. */
#pragma once

#include "core/node.h"
#include "predict/scenario/point.h"
#include "predict/scenario/sources.h"

/* Read the keys of a server, and its requests through `out->sources`. Without a workload these keys
 * are an error. */
bool resolve_workload(const struct node *root, struct point *out, struct error *why);

/* Set the limits of a step and `hbm_usable` to the engine's where the scenario leaves them open.
 * Call it when the machine is known. */
void resolve_engine(const struct node *root, struct point *out);
