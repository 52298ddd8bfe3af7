/* Which matrices a list of module names keeps out of quantisation. */
#ifndef MODEL_EXEMPT_H
#define MODEL_EXEMPT_H

#include "model/read/fields.h"
#include "model/model.h"

/* Set the `exempt` bits of the layers, and `exempt_head`, for every entry of the list `names`
 * (NULL: none), the value of `key` in `fields`. */
bool exempt_listed(const struct fields *fields, const char *key, const json_t *names,
                   struct model *model, struct error *why);

#endif
