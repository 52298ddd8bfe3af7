/* Names among swept values, before anything runs.
 *
 * A slip in the last of a hundred points is found at once, with its line and the nearest name, and
 * not by the row that fails in the end. Only names are looked up: what a file holds, and what a
 * value means beside others, is found when its point is resolved. */
#ifndef SCENARIO_SCENARIO_NAMES_H
#define SCENARIO_SCENARIO_NAMES_H

#include "base/node.h"

#include <stdbool.h>

/* Is every model, system, machine and trace of this map of lists one that there is? NULL has none.
 * Paths are taken as they are. */
bool scenario_check_names(const struct node *sweep, struct error *why);

#endif
