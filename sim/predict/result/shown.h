/* How numbers read: the one place where a number becomes text for a person. Data (JSON, CSV, databases) have
 * it in the unit of its column's name. A figure with its range over families of recordings reads "94
 * (85–96)". The range says how far the last digits can be trusted: the figure and both ends end at the first
 * digit of half the range. The figure has at least two digits, however wide the range, and the low end one;
 * all have at most three. A range of less than a hundredth of the figure is left out. */
#pragma once

#include "core/units.h"

enum { SHOWN_TEXT = 96 };

/* Write a value of this unit with its range (NaN: none). UNIT_COUNT has three digits, UNIT_SHARE is a
 * percentage, "94.3", UNIT_US is read as milliseconds, UNIT_BYTES of 0 is nothing. `decimals`: of a time, so
 * that figures add up; 0: three digits. Returns `text`, or NULL if there is nothing to show, as of NaN. */
const char *shown_value(enum unit unit, int decimals, double value, double low, double high,
                        char text[SHOWN_TEXT]);

/* A mean over draws and half its interval, of which it shows two digits: "45.13 ± 0.62". Returns `text`. */
const char *shown_mean(enum unit unit, double mean, double half, char text[SHOWN_TEXT]);

/* The text of a figure and the ends of its range; NULL without a range, or if it is left out. */
const char *range_format(double value, double low, double high, char text[SHOWN_TEXT]);

/* A figure without a range: three digits, no exponent; what they would show as 0 has four decimals. */
const char *range_single(double value, char *text, size_t size);

/* ---- for sentences: texts that last as long as the expression in which they are made ---- */

struct number {
    char text[SHOWN_TEXT];
};

/* As shown_value() without a range; "0" where that shows nothing. */
struct number number_shown(enum unit unit, double value);

/* With two digits, and with its range if that is one: "120 (100 to 140)", of a share "12 % (8.5 to 16 %)". */
struct number number_rough(enum unit unit, double value, double low, double high);
