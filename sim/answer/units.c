#include "answer/units.h"

#include "base/units.h"
#include "result/range.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

static_assert((int)ANSWER_SIZE >= (int)RANGE_TEXT, "a figure has room for its range");

/* What a value is multiplied by before it is read. */
static double scale_of(enum answer_unit unit)
{
    static const double scales[] = {
        [ANSWER_SHARE] = 100, [ANSWER_PERCENT] = 100,  [ANSWER_PERCENT_TENTHS] = 100,
        [ANSWER_US] = 1e-3,   [ANSWER_MS_AS_S] = 1e-3, [ANSWER_CHANGE] = 100,
        [ANSWER_JSON] = 0};
    return scales[unit] != 0 ? scales[unit] : 1;
}

bool answer_is_whole(enum answer_unit unit)
{
    return unit == ANSWER_BYTES || unit == ANSWER_INTEGER || unit == ANSWER_FLAG;
}

/* No "-0.00" for what rounds to nothing. */
static double without_sign(double value, int decimals)
{
    return fabs(value) < 0.5 * pow(10, -decimals) ? 0 : value;
}

static void write_fixed(int decimals, double value, double low, double high, char text[ANSWER_SIZE])
{
    value = without_sign(value, decimals);
    if (low < high) {
        snprintf(text, ANSWER_SIZE, "%.*f (%.*f … %.*f)", decimals, value, decimals,
                 without_sign(low, decimals), decimals, without_sign(high, decimals));
    } else {
        snprintf(text, ANSWER_SIZE, "%.*f", decimals, value);
    }
}

static void write_dollars(double value, char text[ANSWER_SIZE])
{
    snprintf(text, ANSWER_SIZE, value < 0.1 ? "%.3g" : value < 1 ? "%.3f" : "%.2f", value);
}

static void write_rough(double value, char text[ANSWER_SIZE])
{
    double unit = value != 0 ? pow(10, floor(log10(fabs(value))) - 1) : 1;
    double rounded = nearbyint(value / unit) * unit;
    int decimals = rounded != 0 ? 1 - (int)floor(log10(fabs(rounded) * 1.005)) : 0;
    snprintf(text, ANSWER_SIZE, "%.*f", decimals > 0 ? decimals : 0, rounded);
}

static void write_single(enum answer_unit unit, double value, char text[ANSWER_SIZE])
{
    switch (unit) {
    case ANSWER_INTEGER:
        snprintf(text, ANSWER_SIZE, "%.0f", value);
        break;
    case ANSWER_BYTES:
        units_format(value, UNIT_BYTES, text, ANSWER_SIZE);
        break;
    case ANSWER_SHARE:
        snprintf(text, ANSWER_SIZE, "%.1f", value);
        break;
    case ANSWER_PERCENT:
        snprintf(text, ANSWER_SIZE, "%.0f %%", value);
        break;
    case ANSWER_PERCENT_TENTHS:
        snprintf(text, ANSWER_SIZE, "%.1f %%", value);
        break;
    case ANSWER_DURATION:
        units_format(1e3 * value, UNIT_NS, text, ANSWER_SIZE);
        break;
    case ANSWER_CHANGE:
        snprintf(text, ANSWER_SIZE, "%+.1f %%", value);
        break;
    case ANSWER_DOLLARS:
        write_dollars(value, text);
        break;
    case ANSWER_TIMES:
        snprintf(text, ANSWER_SIZE, "%.2fx", value);
        break;
    case ANSWER_ROUGH:
        write_rough(value, text);
        break;
    case ANSWER_FLAG:
        snprintf(text, ANSWER_SIZE, "%s", value != 0 ? "yes" : "no");
        break;
    default:
        range_single(value, text, ANSWER_SIZE);
    }
}

const char *answer_format(enum answer_unit unit, int decimals, double value, double low,
                          double high, char text[ANSWER_SIZE])
{
    double scale = scale_of(unit);
    if (isnan(value) || (unit == ANSWER_BYTES && value == 0)) {
        return NULL;
    }
    if (decimals > 0) {
        write_fixed(decimals, scale * value, scale * low, scale * high, text);
    } else if (answer_is_whole(unit) ||
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

const char *answer_mean(enum answer_unit unit, double mean, double half, char text[ANSWER_SIZE])
{
    double scale = scale_of(unit);
    int digits = digits_of_mean(scale * mean, scale * half);
    if (half > 0) {
        snprintf(text, ANSWER_SIZE, "%.*f ± %.*f", digits, scale * mean, digits, scale * half);
    } else {
        snprintf(text, ANSWER_SIZE, "%.*f ± 0", digits, scale * mean);
    }
    return text;
}
