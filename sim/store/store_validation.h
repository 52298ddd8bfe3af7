/* Validated mechanisms in the results file: one row of `validations` each. */
#ifndef STORE_STORE_VALIDATION_H
#define STORE_STORE_VALIDATION_H

#include "store/store.h"

#include <stdint.h>

#define VALIDATION_TEXT const char *
#define VALIDATION_INTEGER int64_t
#define VALIDATION_REAL double
struct store_validation {
#define COLUMN(name, type, what) VALIDATION_##type name;
#include "answer/validations.def"
#undef COLUMN
};

/* Put rows in one transaction; a row of the same validation and mechanism is replaced. */
bool store_put_validations(struct store *store, const struct store_validation *rows, uint32_t count,
                           struct error *why);

#endif
