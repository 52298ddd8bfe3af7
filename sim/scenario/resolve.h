/* From the tree of one point to a setup: every key read, every name looked up. */
#ifndef SCENARIO_RESOLVE_H
#define SCENARIO_RESOLVE_H

#include "base/node.h"
#include "decode/setup.h"

/* `root` is a scenario's map with its `hardware` opened (a map), any `sweep` ignored. The caller
 * releases `out` with setup_release(); after a failure there is nothing to release. */
bool resolve_setup(const struct node *root, struct setup *out, struct error *why);

#endif
