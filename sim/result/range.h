/* A figure with its range over families of recordings: "94 (85–96)".
 *
 * A range says how far the last digits can be trusted: the figure and both ends end at the first
 * digit of half the range. The figure has at least two digits, however wide the range, and the low
 * end one; all have at most three. A range without a width says nothing. */
#ifndef RESULT_RANGE_H
#define RESULT_RANGE_H

#include <stddef.h>

enum { RANGE_TEXT = 96 };

/* The text of a figure and the ends of its range; NULL if they are equal or one is NaN. */
const char *range_format(double value, double low, double high, char text[RANGE_TEXT]);

/* The text of a figure without a range: three digits and no exponent, because predictions that were
 * checked are off by percents. A number that they would show as 0 has four places after the
 * point. */
const char *range_single(double value, char *text, size_t size);

#endif
