/* Quantities with units: parsed one way and printed one way everywhere.
 *
 * Sizes are powers of 1024 with an i (KiB MiB GiB TiB) and of 1000 without (kB MB GB TB); times are ns us ms
 * s; rates are a size per second ("26GB/s") or work per second (FLOP/s MFLOP/s GFLOP/s TFLOP/s PFLOP/s). A
 * share is "30%" or "0.3", a multiple "3x", a count of tokens "4096tok", or "128K" and "1M" (also "128k" and
 * "1m") in powers of 1024. Numbers are decimal with an optional fraction and exponent. A blank between number
 * and unit is allowed. Everything else is refused: a sign, and values past 64 bits (63 for times, which are
 * signed). */
#pragma once

#include "core/error.h"

#include <stdint.h>

/* The one list of units. Data have numbers in these; tables may show another (predict/result/shown.h). */
enum unit {
    UNIT_TEXT,   /* no number */
    UNIT_COUNT,  /* a plain number */
    UNIT_SHARE,  /* 1.0 is the whole; written "30%" or 0.3 */
    UNIT_TIMES,  /* a multiple; written "3x" */
    UNIT_TOKENS, /* written "4096tok" or "4K" */
    UNIT_BYTES,
    UNIT_NS,
    UNIT_BYTES_PER_S,
    UNIT_FLOP_PER_S, /* the last that a scenario can state */
    /* of data */
    UNIT_WHOLE, /* a plain number without a fraction */
    UNIT_FLAG,  /* 1 or 0; in the JSON of studies true or false */
    UNIT_US,
    UNIT_MS,
    UNIT_PER_S, /* tokens or requests a second */
    UNIT_DOLLARS,
    UNIT_JSON, /* a text that is JSON */
    /* of tables for people only */
    UNIT_PERCENT,        /* a share, as "23 %" */
    UNIT_PERCENT_TENTHS, /* a share, as "2.3 %" */
    UNIT_CHANGE,         /* a share, as "+2.3 %" */
    UNIT_MS_AS_S,        /* milliseconds, as seconds */
    UNIT_DURATION,       /* microseconds with their own unit, as "4.80 us", "1.21 ms" */
    UNIT_ROUGH,          /* a plain number of two digits: "17", "120", "0.93" */
};

struct unit_kind {
    const char *name; /* as data call it: "bytes", "ms", "text" */
    const char *sql;  /* the type of its column in SQLite: "TEXT", "INTEGER" or "REAL" */
    enum unit stated; /* in which a scenario states such a number: nanoseconds for all times */
    double ns;        /* nanoseconds in one; 0: no time */
    const char *noun, *example; /* of units a scenario can state, for messages: "a size", "8GiB" */
    bool bare;                  /* a number without a suffix may mean this unit */
};
extern const struct unit_kind unit_kinds[];

bool unit_is_whole(enum unit unit);

struct quantity {
    double value; /* in the base unit: bytes, ns, bytes/s, FLOP/s, 1, tokens */
    enum unit unit;
};

/* Read `text` whatever its unit (bare: UNIT_COUNT). Callers know what they expect and write `why`. */
bool quantity_parse(const char *text, struct quantity *out);

/* Read `text` as a non-negative quantity of `unit`. A bare number is taken only for UNIT_COUNT, UNIT_TOKENS
 * and UNIT_SHARE; a bare share is at most 1, because a bare 30 was meant as "30%". "16K" is 16384 tokens, or
 * bytes where bytes are asked for. Whole numbers of bytes, tokens or items are exact up to 2^53. On failure
 * `why` says what was found at file:line for `key` and shows an example ("8GiB", "12us"). */
bool units_parse(const char *text, enum unit unit, const char *file, int line, const char *key,
                 double *out, struct error *why);

/* As units_parse(), for a whole number of at most `most`, exact in 64 bits when written without a fraction.
 * "1.1GiB" is rounded to the nearest byte; a value more than a millionth off a whole number is refused. */
bool units_parse_whole(const char *text, enum unit unit, uint64_t most, const char *file, int line,
                       const char *key, uint64_t *out, struct error *why);

/* Write `value` for a person to read, with three digits and a unit that keeps the number small: "4.80 GiB",
 * "127 us", "26.0 GB/s", "93.0 %". Returns `text`; 32 bytes always suffice. */
char *units_format(double value, enum unit unit, char *text, size_t size);

/* Write it as a scenario states it, "8GiB", "30%": one spelling, which reads back alike. 32 bytes suffice. */
char *units_write(double value, enum unit unit, char *text, size_t size);
