#include "cli/frame/figures.h"

#include "base/units.h"
#include "result/range.h"

#include <stdio.h>

const char *figure_bytes(const struct cell *bytes, char text[FIGURE])
{
    return bytes->set && bytes->integer > 0
               ? units_format((double)bytes->integer, UNIT_BYTES, text, FIGURE)
               : NULL;
}

const char *figure_percent(const struct cell *share, char text[FIGURE])
{
    if (!share->set) {
        return NULL;
    }
    snprintf(text, FIGURE, "%.1f", 100 * share->real);
    return text;
}

/* Cents; three digits for a few cents or less. */
const char *figure_dollars(const struct cell *dollars, char text[FIGURE])
{
    if (!dollars->set) {
        return NULL;
    }
    double most = dollars->real;
    snprintf(text, FIGURE, most < 0.1 ? "%.3g" : most < 1 ? "%.3f" : "%.2f", most);
    return text;
}

const char *figure_rate(const struct cell *rate, char text[FIGURE])
{
    return rate->set ? range_single(rate->real, text, FIGURE) : NULL;
}

const char *figure_ms(int64_t ns, char text[FIGURE])
{
    return range_single((double)ns / 1e6, text, FIGURE);
}
