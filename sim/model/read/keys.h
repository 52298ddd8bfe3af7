/* The names of keys of a config.json, by the lists of models/architectures.yaml. */
#pragma once

#include "model/read/fields.h"

/* Give the values of `decoder` the names that the readers know. */
void keys_rename(json_t *decoder);

/* Refuse an architecture that has no row, if its config has keys that may decide a size and that no
 * reader knows. `name` is the class. */
bool keys_known(const struct fields *decoder, const char *name, struct error *why);
