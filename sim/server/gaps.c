/* Below GAPS_PARTS a bin is one ns; above, the first six bits behind the highest say which part of
 * its power of two a length lies in. */
#include "server/gaps.h"

#include <math.h>

enum { PART_BITS = 6 };

static uint32_t bin_of(uint64_t ns)
{
    if (ns < GAPS_PARTS) {
        return (uint32_t)ns;
    }
    uint32_t shift = 63 - (uint32_t)__builtin_clzll(ns) - PART_BITS;
    return (shift + 1) * GAPS_PARTS + (uint32_t)((ns >> shift) - GAPS_PARTS);
}

static double middle_ns(uint32_t bin)
{
    if (bin < GAPS_PARTS) {
        return bin;
    }
    uint32_t shift = bin / GAPS_PARTS - 1;
    return ldexp(GAPS_PARTS + bin % GAPS_PARTS + 0.5, (int)shift);
}

void gaps_add(struct gaps *gaps, int64_t ns)
{
    gaps->count++;
    gaps->sum_ns += (double)ns;
    gaps->bins[bin_of((uint64_t)ns)]++;
}

double gaps_quantile_ns(const struct gaps *gaps, double share)
{
    uint64_t seen = 0, wanted = (uint64_t)ceil(share * (double)gaps->count);
    for (uint32_t bin = 0; bin < GAPS_BINS; bin++) {
        seen += gaps->bins[bin];
        if (seen >= wanted && seen > 0) {
            return middle_ns(bin);
        }
    }
    return 0;
}
