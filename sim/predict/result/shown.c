#include "predict/result/shown.h"

#include "core/text.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>

enum { NUMBER = 24 };

/* The place of the first digit: 1 for 12, 0 for 9.5, -2 for 0.03; of 0 that of a large number. */
static int first_digit(double number)
{
    return number == 0 ? INT_MAX : (int)floor(log10(fabs(number)));
}

/* Round to the digit at `place`, and write. */
static void range_write_number(double number, int place, char text[NUMBER])
{
    double unit = pow(10, place);
    int digits = place < 0 ? -place : 0;
    snprintf(text, NUMBER, "%.*f", digits, place > 0 ? round(number / unit) * unit : number);
}

const char *range_format(double value, double low, double high, char text[SHOWN_TEXT])
{
    char figure[NUMBER], least[NUMBER], most[NUMBER];
    if (isnan(value) || !(low < high && high - low >= fabs(value) / 100)) {
        return NULL;
    }
    int place = MIN(first_digit((high - low) / 2), MIN(first_digit(value) - 1, first_digit(low)));
    int three = first_digit(fmax(fabs(low), fabs(high))) - 2;
    place = place > three ? place : three;
    range_write_number(value, place, figure);
    range_write_number(low, place, least);
    range_write_number(high, place, most);
    snprintf(text, SHOWN_TEXT, "%s (%s–%s)", figure, least, most);
    return text;
}

const char *range_single(double value, char *text, size_t size)
{
    enum { DIGITS = 3, PLACES_MOST = 4 };
    char rounded[NUMBER];
    snprintf(rounded, sizeof rounded, "%.*e", DIGITS - 1, value);
    int places = DIGITS - 1 - atoi(strchr(rounded, 'e') + 1);
    snprintf(text, size, "%.*f",
             places < 0             ? 0
             : places < PLACES_MOST ? places
                                    : PLACES_MOST,
             strtod(rounded, NULL));
    return text;
}

/* What a value is multiplied by, and how it reads; without a format by three digits or write_single(). */
static const struct {
    double scale; /* 0: 1 */
    const char *format;
} kinds[UNIT_ROUGH + 1] = {
    [UNIT_WHOLE] = {1, "%.0f"},
    [UNIT_TOKENS] = {1, "%.0f"},
    [UNIT_SHARE] = {100, "%.1f"},
    [UNIT_PERCENT] = {100, "%.0f %%"},
    [UNIT_PERCENT_TENTHS] = {100, "%.1f %%"},
    [UNIT_CHANGE] = {100, "%+.1f %%"},
    [UNIT_TIMES] = {1, "%.2fx"},
    [UNIT_US] = {.scale = 1e-3},
    [UNIT_MS_AS_S] = {.scale = 1e-3},
};

static double scale_of(enum unit unit)
{
    return kinds[unit].scale != 0 ? kinds[unit].scale : 1;
}

/* No "-0.00" for what rounds to nothing. */
static double without_sign(double value, int decimals)
{
    return fabs(value) < 0.5 * pow(10, -decimals) ? 0 : value;
}

static void write_fixed(int decimals, double value, double low, double high, char text[SHOWN_TEXT])
{
    value = without_sign(value, decimals);
    if (low < high) {
        snprintf(text, SHOWN_TEXT, "%.*f (%.*f … %.*f)", decimals, value, decimals,
                 without_sign(low, decimals), decimals, without_sign(high, decimals));
    } else {
        snprintf(text, SHOWN_TEXT, "%.*f", decimals, value);
    }
}

static void write_rough(double value, char text[SHOWN_TEXT])
{
    double unit = value != 0 ? pow(10, floor(log10(fabs(value))) - 1) : 1;
    double rounded = nearbyint(value / unit) * unit;
    int decimals = rounded != 0 ? 1 - (int)floor(log10(fabs(rounded) * 1.005)) : 0;
    snprintf(text, SHOWN_TEXT, "%.*f", decimals > 0 ? decimals : 0, rounded);
}

static void write_single(enum unit unit, double value, char text[SHOWN_TEXT])
{
    switch (unit) {
    case UNIT_BYTES:
    case UNIT_BYTES_PER_S:
    case UNIT_FLOP_PER_S:
        units_format(value, unit, text, SHOWN_TEXT);
        break;
    case UNIT_DURATION:
        units_format(1e3 * value, UNIT_NS, text, SHOWN_TEXT);
        break;
    case UNIT_DOLLARS:
        snprintf(text, SHOWN_TEXT, value < 0.1 ? "%.3g" : value < 1 ? "%.3f" : "%.2f", value);
        break;
    case UNIT_ROUGH:
        write_rough(value, text);
        break;
    case UNIT_FLAG:
        snprintf(text, SHOWN_TEXT, "%s", value != 0 ? "yes" : "no");
        break;
    default:
        if (kinds[unit].format != NULL) {
            snprintf(text, SHOWN_TEXT, kinds[unit].format, value);
        } else {
            range_single(value, text, SHOWN_TEXT);
        }
    }
}

const char *shown_value(enum unit unit, int decimals, double value, double low, double high,
                        char text[SHOWN_TEXT])
{
    double scale = scale_of(unit);
    if (isnan(value) || (unit == UNIT_BYTES && value == 0)) {
        return NULL;
    }
    if (decimals > 0) {
        write_fixed(decimals, scale * value, scale * low, scale * high, text);
    } else if (unit_is_whole(unit) ||
               range_format(scale * value, scale * low, scale * high, text) == NULL) {
        write_single(unit, scale * value, text);
    }
    return text;
}

/* Digits after the point: two significant digits of `half`, at most four of `value`. */
static int digits_of_mean(double value, double half)
{
    int most = value > 0 ? 3 - (int)floor(log10(value)) : 0;
    int digits = half > 0 ? 1 - (int)floor(log10(half)) : most;
    digits = digits < most ? digits : most;
    return digits < 0 ? 0 : digits;
}

const char *shown_mean(enum unit unit, double mean, double half, char text[SHOWN_TEXT])
{
    double scale = scale_of(unit);
    int digits = digits_of_mean(scale * mean, scale * half);
    if (half > 0) {
        snprintf(text, SHOWN_TEXT, "%.*f ± %.*f", digits, scale * mean, digits, scale * half);
    } else {
        snprintf(text, SHOWN_TEXT, "%.*f ± 0", digits, scale * mean);
    }
    return text;
}

struct number number_shown(enum unit unit, double value)
{
    struct number number = {"0"};
    shown_value(unit, 0, value, NAN, NAN, number.text);
    return number;
}

struct number number_rough(enum unit unit, double value, double low, double high)
{
    struct number number = {""};
    bool share = unit == UNIT_PERCENT || unit == UNIT_CHANGE;
    double scale = share ? 100 : 1;
    const char *sign = share ? " %" : "";
    text_append(number.text, SHOWN_TEXT, "%s%s", number_shown(UNIT_ROUGH, scale * value).text,
                sign);
    if (low < high) {
        text_append(number.text, SHOWN_TEXT, " (%s to %s%s)",
                    number_shown(UNIT_ROUGH, scale * low).text,
                    number_shown(UNIT_ROUGH, scale * high).text, sign);
    }
    return number;
}
