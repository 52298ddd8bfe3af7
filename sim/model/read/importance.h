/* Importance of each KV head, from a table beside the model. */
#pragma once

#include "model/model.h"

struct files;

/* Read `path` into `importance` and `importance_source` of a model whose layers are read. A missing
 * file is no error: the model then has no table. `files` keeps what is read (NULL: nothing). */
bool importance_read(struct files *files, const char *path, struct model *model, struct error *why);
