/* Read "quantization_config": storage types, and the modules that it exempts. */
#pragma once

#include "model/model.h"
#include "model/read/fields.h"

/* Read it into `weights`, `kv`, `exempt_head` and the layers' `exempt`. Without it everything is
 * bf16 and the head exempt. */
bool quantisation_read(const struct fields *fields, struct model *model, struct error *why);

/* Read "expert_dtype", the type of routed experts if it is not that of the other matrices, into
 * `experts`. */
bool quantisation_read_experts(const struct fields *fields, struct model *model, struct error *why);
