/* What a config.json is read as: keys that the user gives in its place, and older names of keys. */
#pragma once

#include "core/error.h"
#include "core/node.h"

#include <jansson.h>

/* Lay the keys of `keys` (a map; NULL: none) over the config, in the object in which the config has
 * the key, else in the decoder's. `root` is edited in place. */
bool overrides_apply(json_t *root, const struct node *keys, struct error *why);

/* A copy of a JSON text, as long, in which no number is infinite: Python writes "Infinity", which is
 * no JSON. The caller frees it. */
char *overrides_finite(const char *text, size_t size, struct error *why);

/* Give the decoder's keys that older files spell otherwise their present names. */
void overrides_rename(json_t *root);
