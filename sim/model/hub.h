/* Hugging Face ids as names of the models that ship. */
#ifndef MODEL_HUB_H
#define MODEL_HUB_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct files;

/* Has `name` the form of an id, "ORGANISATION/NAME", and not of a path to a .json? */
bool hub_names(const char *name);

/* Write the path of the shipped model that lists `id` (case does not count) in its key
 * "_huggingface" into `path`. `origin` and `line` say where the id stood, as in error_input().
 * Fails with the nearest id when no model lists it. */
bool hub_find(struct files *files, const char *id, const char *origin, int line, char *path,
              size_t size, struct error *why);

#endif
