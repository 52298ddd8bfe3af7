/* The parsers of the C library accept blanks, hexadecimal, infinities and text after a number; a
 * field may hold none of these. They need the numeric locale "C". */
#include "trace/csv/csv_number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool csv_whole(const char *text, uint32_t *out)
{
    uint64_t value = 0;
    const char *c = text;
    for (; *c >= '0' && *c <= '9' && value <= UINT32_MAX; c++) {
        value = value * 10 + (uint64_t)(*c - '0');
    }
    if (c == text || *c != '\0' || value > UINT32_MAX) {
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

bool csv_float(const char *text, float *out)
{
    char *stop;
    size_t size = strspn(text, "0123456789+-.eE");
    if (size == 0 || text[size] != '\0') {
        return false;
    }
    float value = strtof(text, &stop);
    if (*stop != '\0' || !isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}
