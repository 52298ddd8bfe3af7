/* Read what some decoders have beside layers of attention and FFN (struct model_extras), and the
 * encoders of models for more than text. */
#pragma once

#include "model/read/fields.h"
#include "model/model.h"

/* Read it from the decoder's object, and the encoders from the whole file. */
bool extras_read(const struct fields *top, const struct fields *decoder, struct model *model,
                 struct error *why);
