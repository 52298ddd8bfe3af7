/* Check a number that a benchmark wrote down. A damaged file, or a file in other units, is an error
 * and not a row of a table.
 */
#pragma once

#include "core/error.h"

#include <jansson.h>

/* The number at `key`; NAN if it is absent or null. An error at path:line if the value is not a
 * number, is negative, is above 10^12 (of ms: 31 years), or is between 0 and 10^-6 (of ms: a
 * nanosecond). */
bool measured_number(const json_t *object, const char *key, const char *path, int line, double *out,
                     struct error *why);
