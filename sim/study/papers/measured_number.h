/* A number that a benchmark wrote down, checked: a file that was damaged, or is in other units, is
 * an error, not a row of a table.
 */
#ifndef STUDY_PAPERS_MEASURED_NUMBER_H
#define STUDY_PAPERS_MEASURED_NUMBER_H

#include "base/error.h"

#include <jansson.h>

/* What stands at `key`; NAN where nothing does, or null. Another value than a number, one below 0
 * or above 10^12 (of ms: 31 years), and one above 0 but below 10^-6 (of ms: a nanosecond) is an
 * error at path:line. */
bool measured_number(const json_t *object, const char *key, const char *path, int line, double *out,
                     struct error *why);

#endif
