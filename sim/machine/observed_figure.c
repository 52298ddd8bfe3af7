/* Figures as profiles state them: one spelling each, which reads back as the same figure. */
#include "machine/observed.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

struct scale {
    enum unit unit;
    double size;
    const char *suffix;
};

/* For each unit in descending order. */
static const struct scale scales[] = {
    {UNIT_SHARE, 0.01, "%"},
    {UNIT_TIMES, 1, "x"},
    {UNIT_TOKENS, 1, "tok"},
    {UNIT_NS, 1e9, "s"},
    {UNIT_NS, 1e6, "ms"},
    {UNIT_NS, 1e3, "us"},
    {UNIT_NS, 1, "ns"},
    {UNIT_BYTES_PER_S, 1e12, "TB/s"},
    {UNIT_BYTES_PER_S, 1e9, "GB/s"},
    {UNIT_BYTES_PER_S, 1e6, "MB/s"},
    {UNIT_BYTES_PER_S, 1e3, "kB/s"},
    {UNIT_BYTES_PER_S, 1, "B/s"},
    {UNIT_FLOP_PER_S, 1e12, "TFLOP/s"},
    {UNIT_FLOP_PER_S, 1e9, "GFLOP/s"},
    {UNIT_FLOP_PER_S, 1e6, "MFLOP/s"},
    {UNIT_FLOP_PER_S, 1, "FLOP/s"},
    {UNIT_COUNT, 1, ""},
};
enum { SCALES = sizeof scales / sizeof scales[0] };

static double four_digits(double value)
{
    char text[OBSERVED_FIGURE];
    snprintf(text, sizeof text, "%.3e", value);
    return strtod(text, NULL);
}

static bool observed_figure_is_whole(double value)
{
    return value == floor(value) && value < 0x1p53;
}

/* In the largest unit that gives a whole number. */
static void write_bytes(double bytes, char text[OBSERVED_FIGURE])
{
    static const char *const suffixes[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t power = 0;
    while (power < 4 && bytes >= 1024 && fmod(bytes, 1024) == 0) {
        bytes /= 1024;
        power++;
    }
    snprintf(text, OBSERVED_FIGURE, "%.0f%s", bytes, suffixes[power]);
}

char *observed_figure(double value, enum unit unit, char text[OBSERVED_FIGURE])
{
    if (unit == UNIT_BYTES) {
        write_bytes(floor(value + 0.5), text);
        return text;
    }
    bool counted = unit == UNIT_COUNT || unit == UNIT_TOKENS;
    value = counted && observed_figure_is_whole(value) ? value : four_digits(value);
    size_t row = 0;
    while (scales[row].unit != unit ||
           (value < scales[row].size && row + 1 < SCALES && scales[row + 1].unit == unit)) {
        row++;
    }
    double shown = value / scales[row].size;
    const char *format = counted && observed_figure_is_whole(shown) ? "%.0f%s" : "%.4g%s";
    snprintf(text, OBSERVED_FIGURE, format, shown, scales[row].suffix);
    return text;
}

char *observed_size(double size, const char *axis, char text[OBSERVED_FIGURE])
{
    return observed_figure(size, observed_axis_unit(axis), text);
}
