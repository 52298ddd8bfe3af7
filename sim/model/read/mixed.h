/* Read "quantized_layers": a type for each module, as ModelOpt writes MIXED_PRECISION. */
#pragma once

#include "model/read/fields.h"
#include "model/model.h"

/* Read it, a member of `config`, into `weights` and `narrow`, and the bits of the layers and the
 * head. Modules that it does not name stay in bf16. Only fp8 and nvfp4 are mixed. */
bool mixed_read(const struct fields *config, struct model *model, struct error *why);
