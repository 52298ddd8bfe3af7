/* A model out of the text of a config.json. */
#ifndef MODEL_CONFIG_H
#define MODEL_CONFIG_H

#include "model/model.h"

/* Parse `size` bytes known as `file` in messages; `line` of `origin` is where the user asked for
 * it, for what the options get wrong. `out` gets no name and no importance table. On failure it
 * holds nothing. */
bool model_parse(const char *text, size_t size, const char *file,
                 const struct model_options *options, const char *origin, int line,
                 struct model *out, struct error *why);

#endif
