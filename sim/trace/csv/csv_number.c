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

/* Parse a number that ends at `end`. */
static bool parse_float(const char *text, const char *end, float *out)
{
    char *stop;
    size_t size = strspn(text, "0123456789+-.eE");
    if (size == 0 || text + size != end) {
        return false;
    }
    float value = strtof(text, &stop);
    if (stop != end || !isfinite(value)) {
        return false;
    }
    *out = value;
    return true;
}

bool csv_float(const char *text, float *out)
{
    return parse_float(text, text + strlen(text), out);
}

bool csv_query(const char *text, float *scale, int8_t *query, uint32_t count)
{
    const char *end = text + strcspn(text, " ");
    if (!parse_float(text, end, scale)) {
        return false;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = 0;
        if (*end++ != ' ') {
            return false;
        }
        bool is_negative = *end == '-';
        end += is_negative;
        int value = 0;
        for (; size < 3 && *end >= '0' && *end <= '9'; size++) {
            value = value * 10 + *end++ - '0';
        }
        value = is_negative ? -value : value;
        if (size == 0 || value < INT8_MIN || value > INT8_MAX) {
            return false;
        }
        query[i] = (int8_t)value;
    }
    return *end == '\0';
}
