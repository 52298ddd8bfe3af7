/* JSON Schemas of single values: numbers with units, words, names of shipped files.
 *
 * Each function returns a new reference, or NULL if memory is short (or as `why` says). A function
 * that is given NULL returns NULL, so only the last result need be checked.
 */
#pragma once

#include "core/error.h"
#include "core/units.h"

#include <jansson.h>

/* The `definitions` of a schema: one for each unit. */
json_t *schema_definitions(void);

/* A number of `unit`, by reference to its definition. */
json_t *schema_number(enum unit unit, bool whole);

/* `number` (stolen), but not 0; and `number` (stolen), but at most 100 %. */
json_t *schema_positive(json_t *number);
json_t *schema_at_most_all(json_t *number);

json_t *schema_switch(void);

/* One of a list that ends with NULL. */
json_t *schema_words(const char *const *words);

/* Any text in which the regular expression matches. */
json_t *schema_pattern(const char *pattern);

/* The name of a file in DATA/FOLDER that ends in .SUFFIX; for several folders, combine with
 * schema_either(). */
json_t *schema_name(const char *folder, const char *suffix, struct error *why);

/* A path in place of a name. */
json_t *schema_path(const char *suffix);

/* One or the other (stolen). */
json_t *schema_either(json_t *one, json_t *other);

/* A map of these (stolen) keys and no others. */
json_t *schema_map(json_t *properties);

/* A list of one or more items (stolen). */
json_t *schema_list(json_t *item);

/* `schema` with a description and an example (NULL: none). */
json_t *schema_described(json_t *schema, const char *summary, const char *example);

/* Add a key to a map of keys. If memory is short, or `schema` (stolen) is NULL, the map is freed
 * and NULL from then on. */
void schema_put(json_t **properties, const char *key, json_t *schema);
