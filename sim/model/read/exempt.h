/* Which matrices a list of module names keeps out of quantisation. */
#pragma once

#include "model/model.h"
#include "model/read/fields.h"

/* Entries times layers of a config: each entry is held against the names of each layer. */
enum { EXEMPT_MOST_PAIRS = 1 << 20 };

/* The pattern of an entry, the value or a name of `key` in `fields`. */
struct exempt_pattern {
    char text[260];
};
bool exempt_read(const struct fields *fields, const char *key, const char *entry,
                 struct exempt_pattern *out, struct error *why);

/* Bits of enum model_module: the matrices of `layer` that it covers. Does it cover the head? */
uint32_t exempt_modules(const struct exempt_pattern *pattern, uint32_t layer);
bool exempt_covers_head(const struct exempt_pattern *pattern);

/* Set the `exempt` bits of the layers, and `exempt_head`, for every entry of the list `names`
 * (NULL: none), the value of `key` in `fields`. */
bool exempt_listed(const struct fields *fields, const char *key, const json_t *names,
                   struct model *model, struct error *why);
