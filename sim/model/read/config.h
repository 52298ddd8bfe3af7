/* Read a model from the text of a config.json. */
#pragma once

#include "model/model.h"

/* Parse the `size` bytes of `text`, which messages call `file`. `origin` and `line` say where the
 * user asked for the model, for messages about `options`. `out` gets no name and no importance
 * table. On failure it holds nothing. */
bool model_parse(const char *text, size_t size, const char *file,
                 const struct model_options *options, const char *origin, int line,
                 struct model *out, struct error *why);
