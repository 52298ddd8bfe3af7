#include "server/series.h"

#include "core/array.h"

#include <stdlib.h>
#include <string.h>

static const int64_t first_bin_ns = 1000000;

bool series_init(struct series *series, struct error *why)
{
    *series = (struct series){.bin_ns = first_bin_ns};
    series->bins = array_zeroed(SERIES_BINS, sizeof *series->bins, why);
    return series->bins != NULL;
}

void series_release(struct series *series)
{
    free(series->bins);
    *series = (struct series){.count = 0};
}

/* Merge neighbouring bins. */
static void series_fold(struct series *series)
{
    for (uint32_t i = 0; i < SERIES_BINS / 2; i++) {
        for (int f = 0; f < SERIES_FIGURES; f++) {
            series->bins[i][f] = series->bins[2 * i][f] + series->bins[2 * i + 1][f];
        }
    }
    memset(series->bins + SERIES_BINS / 2, 0, SERIES_BINS / 2 * sizeof *series->bins);
    series->count = (series->count + 1) / 2;
    series->bin_ns *= 2;
}

/* The bin of a moment; folds the series if the moment is past its last bin. */
static uint32_t series_reach(struct series *series, int64_t at_ns)
{
    while (at_ns / series->bin_ns >= SERIES_BINS) {
        series_fold(series);
    }
    uint32_t bin = (uint32_t)(at_ns / series->bin_ns);
    series->count = bin + 1 > series->count ? bin + 1 : series->count;
    return bin;
}

void series_hold(struct series *series, enum series_figure figure, int64_t start_ns, int64_t end_ns,
                 double level)
{
    if (series == NULL || level == 0 || end_ns <= start_ns) {
        return;
    }
    uint32_t last = series_reach(series, end_ns - 1); /* before the other call: it may fold */
    for (uint32_t bin = series_reach(series, start_ns); bin <= last; bin++) {
        int64_t from = bin * series->bin_ns, to = from + series->bin_ns;
        int64_t ns = (end_ns < to ? end_ns : to) - (start_ns > from ? start_ns : from);
        series->bins[bin][figure] += level * (double)ns;
    }
}

void series_spread(struct series *series, enum series_figure figure, int64_t start_ns,
                   int64_t end_ns, double amount)
{
    if (end_ns > start_ns) {
        series_hold(series, figure, start_ns, end_ns, amount / (double)(end_ns - start_ns));
    } else {
        series_add(series, figure, start_ns, amount);
    }
}

void series_add(struct series *series, enum series_figure figure, int64_t at_ns, double amount)
{
    if (series != NULL && amount != 0) {
        uint32_t bin = series_reach(series, at_ns);
        series->bins[bin][figure] += amount;
    }
}
