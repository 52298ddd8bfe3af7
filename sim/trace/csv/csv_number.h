/* Numbers in fields. A field must be a number as a whole; on failure `out` stays as it was. */
#ifndef TRACE_CSV_CSV_NUMBER_H
#define TRACE_CSV_CSV_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Digits only, at most UINT32_MAX. */
bool csv_whole(const char *text, uint32_t *out);

/* A finite decimal number, with an optional exponent. */
bool csv_float(const char *text, float *out);

/* A scale and `count` whole numbers from -128 to 127, separated by one space. On failure part of
 * `query` may have been filled. */
bool csv_query(const char *text, float *scale, int8_t *query, uint32_t count);

#endif
