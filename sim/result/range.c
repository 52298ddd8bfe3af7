#include "result/range.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER = 24 };

/* The place of the first digit: 1 for 12, 0 for 9.5, -2 for 0.03; of 0, which has none, as of a large
 * number. */
static int first_digit(double number)
{
    return number == 0 ? INT_MAX : (int)floor(log10(fabs(number)));
}

static int least_of(int a, int b)
{
    return a < b ? a : b;
}

/* Round to the digit at `place`, and write. */
static void range_write_number(double number, int place, char text[NUMBER])
{
    double unit = pow(10, place);
    int digits = place < 0 ? -place : 0;
    snprintf(text, NUMBER, "%.*f", digits, place > 0 ? round(number / unit) * unit : number);
}

const char *range_format(double value, double low, double high, char text[RANGE_TEXT])
{
    char figure[NUMBER], least[NUMBER], most[NUMBER];
    if (isnan(value) || !(low < high)) {
        return NULL;
    }
    int place =
        least_of(first_digit((high - low) / 2), least_of(first_digit(value) - 1, first_digit(low)));
    int three = first_digit(fmax(fabs(low), fabs(high))) - 2;
    place = place > three ? place : three;
    range_write_number(value, place, figure);
    range_write_number(low, place, least);
    range_write_number(high, place, most);
    snprintf(text, RANGE_TEXT, "%s (%s–%s)", figure, least, most);
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
