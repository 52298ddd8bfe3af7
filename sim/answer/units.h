/* How the values of a column read: the one place where a number becomes text for a person. Data
 * (JSON, CSV, databases) have the number in the unit of its column's name, as the comment says. */
#ifndef ANSWER_UNITS_H
#define ANSWER_UNITS_H

#include <stdbool.h>

enum answer_unit {
    ANSWER_TEXT,
    ANSWER_INTEGER,        /* 1234 */
    ANSWER_REAL,           /* three digits */
    ANSWER_BYTES,          /* bytes; read "4.80 GiB", 0 as nothing */
    ANSWER_SHARE,          /* share of 1; read as percent, "94.3" under a title with % */
    ANSWER_PERCENT,        /* share of 1; "23 %" */
    ANSWER_PERCENT_TENTHS, /* share of 1; "2.3 %" */
    ANSWER_US,             /* microseconds; read as milliseconds with three digits */
    ANSWER_MS,             /* milliseconds; three digits */
    ANSWER_MS_AS_S,        /* milliseconds; read as seconds with three digits */
    ANSWER_DURATION,       /* microseconds; read with its own unit, "4.80 us", "1.21 ms" */
    ANSWER_CHANGE,         /* share of 1; "+2.3 %" */
    ANSWER_DOLLARS,        /* cents; three digits of a few cents or less */
    ANSWER_TIMES,          /* "1.25x" */
    ANSWER_ROUGH,          /* two digits: "17", "120", "0.93" */
    ANSWER_FLAG,           /* 1 or 0; "yes" or "no", in JSON true or false */
    ANSWER_JSON,           /* a text that is JSON; only in data */
};

/* Are values of this unit whole numbers? */
bool answer_is_whole(enum answer_unit unit);

enum { ANSWER_SIZE = 96 };

/* Write a value with its range, "94 (85–96)"; `low` and `high` NaN: without. `decimals`: digits
 * after the point of a time, so that a column's figures add up; 0: three digits in all. Returns
 * `text`, or NULL if there is nothing to show, as of NaN. */
const char *answer_format(enum answer_unit unit, int decimals, double value, double low,
                          double high, char text[ANSWER_SIZE]);

/* A mean over draws and half its interval, of which it shows two digits: "45.13 ± 0.62". Returns
 * `text`. */
const char *answer_mean(enum answer_unit unit, double mean, double half, char text[ANSWER_SIZE]);

#endif
