/* Read DeepSeek's sparse attention: the indexer, and which layers have one. */
#pragma once

#include "model/read/architecture.h"

/* Read it into the index_* of `model` and the layers' `shares_index`, for a row that has an
 * indexer; the latent query is read already. */
bool indexer_read(const struct fields *fields, const struct architecture *kind, struct model *model,
                  struct error *why);
