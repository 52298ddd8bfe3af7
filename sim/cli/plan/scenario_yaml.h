/* A scenario as a person would write it: one key per line, and maps on one line. */
#ifndef CLI_PLAN_SCENARIO_YAML_H
#define CLI_PLAN_SCENARIO_YAML_H

#include "base/node.h"

#include <stdio.h>

/* Reading the text gives the same scenario. A machine without overrides is written as its name, not
 * as the map that holds overrides. */
void scenario_print_yaml(const struct node *root, FILE *out);

#endif
