/* The names in a scenario: one spelling each, and those among swept values checked before anything
 * runs.
 *
 * A name is read as people type it (core/named.h): "H100", "meta-llama/Llama-3.1-8B". Results and
 * databases keep the canonical one, so that the same run asked for in two spellings is one run. A
 * misspelt name in the last of a hundred points is reported at once, with its line and the nearest
 * name, instead of as a failed row at the end. Only names are looked up. The contents of files, and
 * contradictions between values, are checked when their point is resolved. */
#pragma once

#include "core/node.h"

#include <stdbool.h>

/* Give every name in this map of a scenario's keys its canonical spelling, also inside `hardware`
 * and in the lists of `sweep`. Paths, and names that mean nothing, stay as they are. Fails only
 * without memory. */
bool scenario_spell_names(struct node *map, struct error *why);

/* The same for a value of the key `path` ("hardware.link"), or for a list or map of them. */
bool scenario_spell_value(struct node *value, const char *path, struct error *why);

/* Does every model, system, machine and trace in this map of lists exist? NULL is an empty map.
 * Paths with a slash are accepted unchecked. */
bool scenario_check_names(const struct node *sweep, struct error *why);

/* The keys at which a scenario names a machine or a part of one. A name there means {extends:
 * name}. */
struct machine_place {
    const char *path;
    const char *part; /* for profile_named(); NULL: a whole machine */
};

/* Outer ones first; ends with path NULL. */
extern const struct machine_place machine_places[];

/* The place whose path is the first `length` characters of `path`; NULL if there is none. */
const struct machine_place *machine_place_find(const char *path, size_t length);
