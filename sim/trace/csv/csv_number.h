/* Numbers in fields: the whole field or none of it. They leave `out` alone on failure. */
#ifndef TRACE_CSV_CSV_NUMBER_H
#define TRACE_CSV_CSV_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Digits only, at most UINT32_MAX. */
bool csv_whole(const char *text, uint32_t *out);

/* A finite decimal number, with or without exponent. */
bool csv_float(const char *text, float *out);

/* A scale and `count` whole numbers from -128 to 127, one space between. May fill part of
 * `query` and fail. */
bool csv_query(const char *text, float *scale, int8_t *query, uint32_t count);

#endif
