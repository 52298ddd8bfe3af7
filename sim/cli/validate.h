/* What the command `validate` shows of a validation. */
#pragma once

#include "store/store.h"
#include "study/papers/validation.h"

/* What is validated. */
struct subject {
    struct profile profile;
    struct model model;
    struct trace *trace;
    struct miniature shape;
};

/* Print the table and what is to be said below it, and store the rows unless `store` is NULL. `spec`:
 * the harness's instructions. */
bool validate_show(const struct subject *subject, const struct validation *validation,
                   const char *spec, struct store *store, struct error *why);
