/* Heads, windows and FFNs of a model's layers, by the keys of its config.json. */
#pragma once

#include "model/read/architecture.h"

/* Upper bounds: values within them can be multiplied and allocated safely. Every real model is far
 * below. */
enum { LAYERS_MOST = 1024, HEADS_MOST = 1 << 16, EXPERTS_MOST = 1 << 16, SIZE_MOST = INT32_MAX };

/* Called in this order, for a model that has its class's values and its layers allocated. */
bool heads_read(const struct fields *fields, struct model *model, struct error *why);
bool windows_read(const struct fields *fields, const struct architecture *kind, struct model *model,
                  struct error *why);
bool ffn_read(const struct fields *fields, const struct architecture *kind, struct model *model,
              struct error *why);
