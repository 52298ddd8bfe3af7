/* JSON Schemas of single values: numbers with units, words, names of files that ship.
 *
 * Each function returns a new reference, or NULL when memory is short (or `why` says otherwise);
 * one that is given NULL returns NULL, so that only the last need be looked at.
 */
#ifndef CLI_SCHEMA_VALUE_H
#define CLI_SCHEMA_VALUE_H

#include "base/error.h"
#include "base/units.h"

#include <jansson.h>

/* What every number with a unit is said by: `definitions` of a schema. */
json_t *schema_definitions(void);

/* A number of `unit`, by reference to its definition. */
json_t *schema_number(enum unit unit, bool whole);

/* `number` (stolen), but not 0; and one that is no more than the whole of what it is a share of. */
json_t *schema_positive(json_t *number);
json_t *schema_at_most_all(json_t *number);

json_t *schema_switch(void);

/* One of a list that ends with NULL. */
json_t *schema_words(const char *const *words);

/* Any text that the regular expression finds itself in. */
json_t *schema_pattern(const char *pattern);

/* The name of a file of DATA/FOLDER that ends in .SUFFIX; one of several folders by
 * schema_either(). */
json_t *schema_name(const char *folder, const char *suffix, struct error *why);

/* A path that may stand where a name does. */
json_t *schema_path(const char *suffix);

/* One or the other (stolen). */
json_t *schema_either(json_t *one, json_t *other);

/* A map of these (stolen) keys and no others. */
json_t *schema_map(json_t *properties);

/* A list of at least one such item (stolen). */
json_t *schema_list(json_t *item);

/* With what it is and an example (NULL: none). */
json_t *schema_described(json_t *schema, const char *summary, const char *example);

/* Add a key to a map of keys; false when memory is short, or `schema` (stolen) is NULL. */
bool schema_put(json_t *properties, const char *key, json_t *schema);

#endif
