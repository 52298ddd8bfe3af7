/* Laying files and overrides over the tree of a scenario, one after the other. */
#pragma once

#include "core/node.h"

#include <stdbool.h>

/* Lay `map` over `root`. Its keys are checked, and its names opened and spelt first. */
bool scenario_set_map(struct node *root, struct node *map, struct error *why);

bool scenario_set_file(struct node *root, const char *path, struct error *why);

/* Fail if the text is no "key=value". Overrides are looked at before files are read: the second word
 * of "--set model llama" would otherwise be a file that is not there. */
bool scenario_check_override(const char *override, struct error *why);

/* All overrides are one layer. */
bool scenario_set_overrides(struct node *root, const char *const *overrides, uint32_t count,
                            struct error *why);

/* Sweep `path`, a single key of the map `sweep` with its dots, over the YAML list `values`. */
bool scenario_set_swept(struct node *root, const char *path, const char *values, struct error *why);

/* Of an override's key with `*length` characters: "config." for "model.KEY", and `*length` without
 * its first word; "" and the whole key for another. */
const char *scenario_config_prefix(const char *override, int *length);

/* The names in a scenario: one spelling each, and those among swept values checked before anything
 * runs.
 *
 * A name is read as people type it (core/named.h): "H100", "meta-llama/Llama-3.1-8B". Results and
 * databases keep the canonical one, so that the same run asked for in two spellings is one run. A
 * misspelt name in the last of a hundred points is reported at once, with its line and the nearest
 * name, instead of as a failed row at the end. Only names are looked up. The contents of files, and
 * contradictions between values, are checked when their point is resolved. */

/* Give every name in this map of a scenario's keys its canonical spelling, also inside `hardware`
 * and in the lists of `sweep`. Paths, and names that mean nothing, stay as they are. Fails only
 * without memory. */
bool scenario_spell_names(struct node *map, struct error *why);

/* The same for a value of the key `path` ("hardware.link"), or for a list or map of them. */
bool scenario_spell_value(struct node *value, const char *path, struct error *why);

/* Does every model, system, machine and trace in this map of lists exist? NULL is an empty map.
 * Paths with a slash are accepted unchecked. */
bool scenario_check_names(const struct node *sweep, struct error *why);
