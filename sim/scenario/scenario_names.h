/* Checks names among swept values before anything runs.
 *
 * A misspelt name in the last of a hundred points is reported at once, with its line and the
 * nearest name, instead of as a failed row at the end. Only names are looked up. The contents of
 * files, and contradictions between values, are checked when their point is resolved. */
#ifndef SCENARIO_SCENARIO_NAMES_H
#define SCENARIO_SCENARIO_NAMES_H

#include "base/node.h"

#include <stdbool.h>

/* Does every model, system, machine and trace in this map of lists exist? NULL is an empty map.
 * Paths are accepted unchecked. */
bool scenario_check_names(const struct node *sweep, struct error *why);

#endif
