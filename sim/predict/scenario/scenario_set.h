/* Laying files and overrides over the tree of a scenario, one after the other. */
#pragma once

#include "core/node.h"

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
