/* What "quantization_config" says: storage types, and which modules it leaves alone. */
#ifndef MODEL_QUANTISATION_H
#define MODEL_QUANTISATION_H

#include "model/fields.h"
#include "model/model.h"

/* Read it into `weights`, `kv`, `exempt_head` and the layers' `exempt`; without one everything is
 * bf16 and the head exempt. */
bool quantisation_read(const struct fields *fields, struct model *model, struct error *why);

#endif
