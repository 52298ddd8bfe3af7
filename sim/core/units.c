/* One table of spellings serves reading, printing and messages. */
#include "core/units.h"

#include "core/name.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit_spelling {
    const char *suffix;
    enum unit unit;
    double scale; /* base units per unit of this spelling */
    enum use {
        READ,
        PRINTED, /* of the spellings of a scale */
        ASKED    /* read only where its unit is asked for; elsewhere it may be another unit's */
    } use;
};

#define PERCENT 0.01
#define KIBI 1024.0
#define MEBI (1024.0 * KIBI)
#define GIBI (1024.0 * MEBI)
#define TEBI (1024.0 * GIBI)

/* For each unit in ascending order of scale. */
static const struct unit_spelling spellings[] = {
    {"", UNIT_COUNT, 1, PRINTED},
    {"%", UNIT_SHARE, PERCENT, PRINTED},
    {"x", UNIT_TIMES, 1, PRINTED},
    {"tok", UNIT_TOKENS, 1, PRINTED},
    {"K", UNIT_TOKENS, KIBI, READ},
    {"k", UNIT_TOKENS, KIBI, READ},
    {"M", UNIT_TOKENS, MEBI, READ},
    {"m", UNIT_TOKENS, MEBI, READ},
    {"B", UNIT_BYTES, 1, PRINTED},
    {"kB", UNIT_BYTES, 1e3, READ},
    {"K", UNIT_BYTES, KIBI, ASKED},
    {"KiB", UNIT_BYTES, KIBI, PRINTED},
    {"MB", UNIT_BYTES, 1e6, READ},
    {"M", UNIT_BYTES, MEBI, ASKED},
    {"MiB", UNIT_BYTES, MEBI, PRINTED},
    {"GB", UNIT_BYTES, 1e9, READ},
    {"G", UNIT_BYTES, GIBI, ASKED},
    {"GiB", UNIT_BYTES, GIBI, PRINTED},
    {"TB", UNIT_BYTES, 1e12, READ},
    {"TiB", UNIT_BYTES, TEBI, PRINTED},
    {"ns", UNIT_NS, 1, PRINTED},
    {"us", UNIT_NS, 1e3, PRINTED},
    {"ms", UNIT_NS, 1e6, PRINTED},
    {"s", UNIT_NS, 1e9, PRINTED},
    {"min", UNIT_NS, 60e9, READ},
    {"h", UNIT_NS, 3600e9, READ},
    {"B/s", UNIT_BYTES_PER_S, 1, PRINTED},
    {"kB/s", UNIT_BYTES_PER_S, 1e3, PRINTED},
    {"KiB/s", UNIT_BYTES_PER_S, KIBI, READ},
    {"MB/s", UNIT_BYTES_PER_S, 1e6, PRINTED},
    {"MiB/s", UNIT_BYTES_PER_S, MEBI, READ},
    {"GB/s", UNIT_BYTES_PER_S, 1e9, PRINTED},
    {"GiB/s", UNIT_BYTES_PER_S, GIBI, READ},
    {"TB/s", UNIT_BYTES_PER_S, 1e12, PRINTED},
    {"TiB/s", UNIT_BYTES_PER_S, TEBI, READ},
    {"FLOP/s", UNIT_FLOP_PER_S, 1, PRINTED},
    {"MFLOP/s", UNIT_FLOP_PER_S, 1e6, PRINTED},
    {"GFLOP/s", UNIT_FLOP_PER_S, 1e9, PRINTED},
    {"TFLOP/s", UNIT_FLOP_PER_S, 1e12, PRINTED},
    {"PFLOP/s", UNIT_FLOP_PER_S, 1e15, PRINTED},
};
enum { SPELLINGS = sizeof spellings / sizeof spellings[0] };

#define WHOLE "INTEGER"
#define REAL "REAL"
const struct unit_kind unit_kinds[] = {
    [UNIT_TEXT] = {"text", "TEXT", UNIT_TEXT},
    [UNIT_COUNT] = {"number", REAL, UNIT_COUNT, 0, "a number", "4", true},
    [UNIT_SHARE] = {"share", REAL, UNIT_SHARE, 0, "a share", "30%", true},
    [UNIT_TIMES] = {"times", REAL, UNIT_TIMES, 0, "a multiple", "3x", false},
    [UNIT_TOKENS] = {"tokens", WHOLE, UNIT_TOKENS, 0, "a number of tokens", "128K", true},
    [UNIT_BYTES] = {"bytes", WHOLE, UNIT_BYTES, 0, "a size", "8GiB", false},
    [UNIT_NS] = {"ns", WHOLE, UNIT_NS, 1, "a time", "12us", false},
    [UNIT_BYTES_PER_S] = {"bytes/s", REAL, UNIT_BYTES_PER_S, 0, "a rate", "26GB/s", false},
    [UNIT_FLOP_PER_S] = {"FLOP/s", REAL, UNIT_FLOP_PER_S, 0, "a rate of work", "150TFLOP/s", false},
    [UNIT_WHOLE] = {"integer", WHOLE, UNIT_COUNT},
    [UNIT_FLAG] = {"flag", WHOLE, UNIT_COUNT},
    [UNIT_US] = {"us", REAL, UNIT_NS, 1e3},
    [UNIT_MS] = {"ms", REAL, UNIT_NS, 1e6},
    [UNIT_PER_S] = {"1/s", REAL, UNIT_COUNT},
    [UNIT_DOLLARS] = {"dollars", REAL, UNIT_COUNT},
    [UNIT_JSON] = {"JSON", "TEXT", UNIT_TEXT},
    [UNIT_PERCENT] = {"share", REAL, UNIT_SHARE},
    [UNIT_PERCENT_TENTHS] = {"share", REAL, UNIT_SHARE},
    [UNIT_CHANGE] = {"share", REAL, UNIT_SHARE},
    [UNIT_MS_AS_S] = {"ms", REAL, UNIT_NS, 1e6},
    [UNIT_DURATION] = {"us", REAL, UNIT_NS, 1e3},
    [UNIT_ROUGH] = {"number", REAL, UNIT_COUNT},
};

bool unit_is_whole(enum unit unit)
{
    return strcmp(unit_kinds[unit].sql, WHOLE) == 0;
}

/* A parsed text: its number (its length, whether it has only digits) and its suffix. */
struct units_reading {
    double number;
    const char *digits;
    bool whole;
    const char *suffix;
};

/* Digits with an optional fraction and exponent: strtod() also takes signs, blanks, hexadecimal, inf, nan. */
static bool units_read_number(const char *text, struct units_reading *out)
{
    static const char digits[] = "0123456789";
    char *end;
    *out = (struct units_reading){.digits = text, .number = strtod(text, &end)};
    size_t length = (size_t)(end - text);
    out->whole = strspn(text, digits) == length;
    out->suffix = end[0] == ' ' && end[1] != '\0' ? end + 1 : end;
    return text[0] >= '0' && text[0] <= '9' && strspn(text, "0123456789.eE+-") >= length &&
           strchr(digits, end[-1]) != NULL;
}

/* The spelling of `unit`, or that of another one. */
static const struct unit_spelling *units_find_spelling(const char *suffix, enum unit unit)
{
    const struct unit_spelling *found = NULL;
    for (int i = 0; i < SPELLINGS; i++) {
        const struct unit_spelling *row = &spellings[i];
        bool other = found == NULL && row->use != ASKED;
        if (strcmp(row->suffix, suffix) == 0 && (row->unit == unit || other)) {
            found = row;
        }
    }
    return found;
}

static bool units_fits(double value, enum unit unit)
{
    return value < (unit == UNIT_NS ? 0x1p63 : 0x1p64);
}

/* In base units. A share is the double nearest to its decimal text: 35% and 0.35 are equal. */
static double units_value_of(const struct units_reading *reading,
                             const struct unit_spelling *spelling)
{
    char share[64];
    size_t length = strcspn(reading->digits, " %");
    bool plain = strcspn(reading->digits, "eE") >= length && length < sizeof share - 4;
    if (spelling->scale == PERCENT && plain) {
        snprintf(share, sizeof share, "%.*se-2", (int)length, reading->digits);
        return strtod(share, NULL);
    }
    return reading->number * spelling->scale;
}

bool quantity_parse(const char *text, struct quantity *out)
{
    struct units_reading reading;
    const struct unit_spelling *spelling;
    if (!units_read_number(text, &reading) ||
        (spelling = units_find_spelling(reading.suffix, UNIT_COUNT)) == NULL ||
        !units_fits(units_value_of(&reading, spelling), spelling->unit)) {
        return false;
    }
    *out = (struct quantity){units_value_of(&reading, spelling), spelling->unit};
    return true;
}

/* Where a value came from and what it should be, for messages. */
struct asked {
    const char *text;
    enum unit unit;
    const char *file;
    int line;
    const char *key;
};

static bool units_refuse(const struct asked *asked, struct error *why, const char *complaint)
{
    error_input(why, asked->file, asked->line, "'%s' is '%.80s', %s", asked->key, asked->text,
                complaint);
    error_key(why, asked->key);
    return error_expect(why, "%s such as %s", unit_kinds[asked->unit].noun,
                        unit_kinds[asked->unit].example);
}

/* Parse `text` and check that it has the requested unit. */
static bool read_asked(const struct asked *asked, struct units_reading *reading,
                       const struct unit_spelling **spelling, struct error *why)
{
    if (asked->text[0] == '-' && asked->text[1] >= '0' && asked->text[1] <= '9') {
        return units_refuse(asked, why, "which is negative");
    }
    if (!units_read_number(asked->text, reading)) {
        return units_refuse(asked, why, "which is not a number");
    }
    *spelling = units_find_spelling(reading->suffix, asked->unit);
    if (*spelling == NULL) { /* show the nearest suffix of the requested unit */
        const char *suffixes[SPELLINGS + 1] = {NULL};
        for (int i = 0, count = 0; i < SPELLINGS; i++) {
            if (spellings[i].unit == asked->unit) {
                suffixes[count++] = spellings[i].suffix;
            }
        }
        units_refuse(asked, why, "which has an unknown unit");
        return error_nearest(why, name_nearest(reading->suffix, NAMES(suffixes)));
    }
    enum unit found = (*spelling)->unit;
    bool bare = found == UNIT_COUNT;
    if (bare && asked->unit != UNIT_COUNT && !unit_kinds[asked->unit].bare) {
        return units_refuse(asked, why, "which has no unit");
    }
    if (!bare && found != asked->unit) {
        char complaint[64];
        snprintf(complaint, sizeof complaint, "which is %s", unit_kinds[found].noun);
        return units_refuse(asked, why, complaint);
    }
    if (bare && asked->unit == UNIT_SHARE && reading->number > 1) {
        char percent[96] = "";
        if (reading->number <= 100) {
            snprintf(percent, sizeof percent, "%.80s%%", asked->text);
        }
        units_refuse(asked, why, "which is more than 100 %");
        return error_nearest(why, percent[0] != '\0' ? percent : NULL);
    }
    return true;
}

bool units_parse(const char *text, enum unit unit, const char *file, int line, const char *key,
                 double *out, struct error *why)
{
    struct asked asked = {text, unit, file, line, key};
    struct units_reading reading;
    const struct unit_spelling *spelling;
    if (!read_asked(&asked, &reading, &spelling, why)) {
        return false;
    }
    double value = units_value_of(&reading, spelling);
    if (!units_fits(value, unit)) {
        return units_refuse(&asked, why, "which is too large");
    }
    *out = value;
    return true;
}

/* Write the whole number, in base units, to `out`. Returns a complaint, or NULL. */
static const char *units_read_whole(const struct units_reading *reading, double scale,
                                    uint64_t *out)
{
    static const char too_large[] = "which is too large";
    if (reading->whole && scale >= 1) {
        errno = 0;
        *out = strtoull(reading->digits, NULL, 10);
        bool overflow = errno != 0 || __builtin_mul_overflow(*out, (uint64_t)scale, out);
        return overflow ? too_large : NULL;
    }
    double value = reading->number * scale, nearest = nearbyint(value);
    if (!(nearest < 0x1p64)) {
        return too_large;
    }
    double slack = scale > 1 ? 1e-6 * value : 0;
    if (fabs(nearest - value) > slack) {
        return "which is not a whole number";
    }
    *out = (uint64_t)nearest;
    return NULL;
}

bool units_parse_whole(const char *text, enum unit unit, uint64_t most, const char *file, int line,
                       const char *key, uint64_t *out, struct error *why)
{
    struct asked asked = {text, unit, file, line, key};
    struct units_reading reading;
    const struct unit_spelling *spelling;
    if (!read_asked(&asked, &reading, &spelling, why)) {
        return false;
    }
    uint64_t value;
    const char *complaint = units_read_whole(&reading, spelling->scale, &value);
    if (complaint != NULL) {
        return units_refuse(&asked, why, complaint);
    }
    if (value > most) {
        char limit[64];
        const char *suffix = unit == UNIT_BYTES ? "B" : unit == UNIT_NS ? "ns" : "";
        snprintf(limit, sizeof limit, "which is more than %" PRIu64 "%s", most, suffix);
        units_refuse(&asked, why, limit);
        return error_expect(why, "%s up to %" PRIu64 "%s", unit_kinds[unit].noun, most, suffix);
    }
    *out = value;
    return true;
}

char *units_format(double value, enum unit unit, char *text, size_t size)
{
    const struct unit_spelling *spelling = NULL; /* the largest that leaves at least 1, rounded */
    for (int i = 0; i < SPELLINGS; i++) {
        const struct unit_spelling *row = &spellings[i];
        bool fits = spelling == NULL || fabs(value) >= 0.9995 * row->scale;
        spelling = row->unit == unit && row->use == PRINTED && fits ? row : spelling;
    }
    assert(spelling != NULL);                     /* every unit has a printed spelling */
    double shown = value / spelling->scale + 0.0; /* -0 becomes 0 */
    double magnitude = fabs(shown);
    const char *blank = spelling->suffix[0] != '\0' ? " " : "";
    bool counted = unit != UNIT_SHARE && unit != UNIT_TIMES && spelling->scale == 1;
    if (shown == 0 || (counted && shown == nearbyint(shown) && magnitude < 0x1p53)) {
        snprintf(text, size, "%.0f%s%s", shown, blank, spelling->suffix);
    } else if (magnitude < 0.9995 || magnitude >= 1e6) {
        snprintf(text, size, "%#.3g%s%s", shown, blank, spelling->suffix);
    } else {
        int decimals = magnitude < 9.995 ? 2 : magnitude < 99.95 ? 1 : 0;
        snprintf(text, size, "%.*f%s%s", decimals, shown, blank, spelling->suffix);
    }
    return text;
}

/* The largest unit in which the value is whole, else the smallest; a bare number if that would change it. */
char *units_write(double value, enum unit unit, char *text, size_t size)
{
    const struct unit_spelling *best = NULL;
    for (int i = 0; i < SPELLINGS; i++) {
        const struct unit_spelling *row = &spellings[i];
        double shown = value / row->scale;
        bool whole = shown >= 1 && shown == nearbyint(shown);
        best = row->unit == unit && row->use == PRINTED && (best == NULL || whole) ? row : best;
    }
    assert(best != NULL);
    double shown = value / best->scale;
    bool whole = shown == nearbyint(shown) && shown < 0x1p53;
    for (int digits = 1; digits <= 17; digits++) {
        struct quantity read; /* as few digits as distinguish it from every other value */
        snprintf(text, size, whole ? "%.*f%s" : "%.*g%s", whole ? 0 : digits, shown, best->suffix);
        if (quantity_parse(text, &read) && read.value == value) {
            return text;
        }
    }
    snprintf(text, size, "%.17g", value);
    return text;
}
