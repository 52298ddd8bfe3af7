/* A scenario as a file that a person would write: a key a line, what has children in one line. */
#ifndef CLI_PLAN_SCENARIO_YAML_H
#define CLI_PLAN_SCENARIO_YAML_H

#include "base/node.h"

#include <stdio.h>

/* Reading what is written gives the same scenario. A machine's name that stands alone is written
 * so, and not as the map that overrides reach into. */
void scenario_print_yaml(const struct node *root, FILE *out);

#endif
