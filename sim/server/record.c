#include "server/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *wait_name(int wait)
{
    static const char *const names[WAIT_STALL] = {
        [WAIT_API] = "api",         [WAIT_QUEUE] = "queue",         [WAIT_LOAD] = "load",
        [WAIT_PREFILL] = "prefill", [WAIT_PREEMPTED] = "preempted", [WAIT_OTHERS] = "others",
        [WAIT_DECODE] = "decode",
    };
    return wait < WAIT_STALL ? names[wait] : pipeline_part_names[wait - WAIT_STALL];
}

void waits_charge(struct waits *waits, enum wait wait, int64_t until_ns)
{
    waits->ns[wait] += until_ns - waits->until_ns;
    waits->until_ns = until_ns;
}

void waits_charge_decode(struct waits *waits, int64_t ns, int64_t others_ns,
                         const int64_t stall_ns[PART_COUNT])
{
    int64_t decode_ns = ns - others_ns;
    for (int part = 0; part < PART_COUNT; part++) {
        waits->ns[WAIT_STALL + part] += stall_ns[part];
        decode_ns -= stall_ns[part];
    }
    waits->ns[WAIT_OTHERS] += others_ns;
    waits->ns[WAIT_DECODE] += decode_ns;
    waits->until_ns += ns;
}

void waits_add(struct waits *waits, const struct waits *other, int sign)
{
    for (int wait = 0; wait < WAITS; wait++) {
        waits->ns[wait] += sign * other->ns[wait];
    }
}

/* Below GAPS_PARTS a bin is one ns; above, six bits behind the highest say the part of its power of two. */

enum { PART_BITS = 6 };

void gaps_add(struct gaps *gaps, int64_t ns, uint64_t count)
{
    gaps->count += count;
    gaps->sum_ns += (double)ns * (double)count;
    uint64_t bin = (uint64_t)ns;
    if (bin >= GAPS_PARTS) {
        uint32_t shift = 63 - (uint32_t)__builtin_clzll(bin) - PART_BITS;
        bin = (uint64_t)(shift + 1) * GAPS_PARTS + ((bin >> shift) - GAPS_PARTS);
    }
    gaps->bins[bin] += count;
}

double gaps_quantile_ns(const struct gaps *gaps, double share)
{
    uint64_t seen = 0, wanted = (uint64_t)ceil(share * (double)gaps->count);
    for (uint32_t bin = 0; bin < GAPS_BINS; bin++) {
        seen += gaps->bins[bin];
        if (seen >= wanted && seen > 0) {
            return bin < GAPS_PARTS
                       ? bin
                       : ldexp(GAPS_PARTS + bin % GAPS_PARTS + 0.5, (int)(bin / GAPS_PARTS - 1));
        }
    }
    return 0;
}

static const int64_t first_bin_ns = 1000000;

bool series_init(struct series *series, struct error *why)
{
    *series = (struct series){.bin_ns = first_bin_ns, .from_ns = -first_bin_ns};
    series->bins = array_zeroed(SERIES_BINS, sizeof *series->bins, why);
    return series->bins != NULL;
}

void series_release(struct series *series)
{
    free(series->bins);
    *series = (struct series){.count = 0};
}

/* The bin of a moment; folds the series if the moment is past its last bin. */
static uint32_t series_reach(struct series *series, int64_t at_ns)
{
    int64_t behind = at_ns - series->from_ns;
    if (behind >= 0 && behind < series->bin_ns) { /* mostly, and a division takes long */
        return (uint32_t)series->bin;
    }
    while (at_ns / series->bin_ns >= SERIES_BINS) {
        for (uint32_t i = 0; i < SERIES_BINS / 2; i++) { /* merge neighbouring bins */
            for (int f = 0; f < SERIES_FIGURES; f++) {
                series->bins[i][f] = series->bins[2 * i][f] + series->bins[2 * i + 1][f];
            }
        }
        memset(series->bins + SERIES_BINS / 2, 0, SERIES_BINS / 2 * sizeof *series->bins);
        series->count = (series->count + 1) / 2;
        series->bin_ns *= 2;
    }
    uint32_t bin = (uint32_t)(series->bin = at_ns / series->bin_ns);
    series->from_ns = bin * series->bin_ns;
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
    if (end_ns > start_ns && amount != 0) {
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
