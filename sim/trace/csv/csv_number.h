/* Numbers in fields. A field must be a number as a whole; on failure `out` stays as it was. */
#ifndef TRACE_CSV_CSV_NUMBER_H
#define TRACE_CSV_CSV_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Digits only, at most UINT32_MAX. */
bool csv_whole(const char *text, uint32_t *out);

/* A finite decimal number, with an optional exponent. */
bool csv_float(const char *text, float *out);

#endif
