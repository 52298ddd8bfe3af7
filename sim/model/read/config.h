/* Read a model from the text of a config.json, and the importance of its heads. */
#pragma once

#include "model/model.h"

/* Parse the `size` bytes of `text`, which messages call `file`. `origin` and `line` say where the
 * user asked for the model, for messages about `options`. `out` gets no name and no importance
 * table. On failure it holds nothing. */
bool model_parse(const char *text, size_t size, const char *file,
                 const struct model_options *options, const char *origin, int line,
                 struct model *out, struct error *why);

/* Read `path` into `importance` and `importance_source` of a model whose layers are read. A missing
 * file is no error: the model then has no table. `files` keeps what is read (NULL: nothing). */
bool importance_read(struct files *files, const char *path, struct model *model, struct error *why);
