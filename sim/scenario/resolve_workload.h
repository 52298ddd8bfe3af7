/* What a scenario says of a server and its requests. */
#ifndef SCENARIO_RESOLVE_WORKLOAD_H
#define SCENARIO_RESOLVE_WORKLOAD_H

#include "base/node.h"
#include "scenario/point.h"
#include "scenario/sources.h"

/* What `routing` may say, by enum routing. Ends with NULL. */
extern const char *const workload_routings[];

/* Where `root` has a workload, write into it the context that stands for its requests: the mean of
 * what they attend to while they decode. A scenario that says another one is refused. */
bool workload_lay_context(struct node *root, struct sources *sources, struct error *why);

/* Read the keys of a server, and its requests from `out->sources`. Without a workload the keys are
 * refused. */
bool resolve_workload(const struct node *root, struct point *out, struct error *why);

/* Write what was read into a resolved scenario. */
bool workload_put(struct node *all, const struct workload *workload, struct error *why);

#endif
