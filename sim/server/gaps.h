/* How long clients wait from one token to the next: counts by length, for quantiles of millions.
 *
 * A bin is a 64th of a power of two wide, so a quantile is within 1 % of itself; the mean is exact.
 * Several servers add up in one table. */
#pragma once

#include <stdint.h>

enum { GAPS_PARTS = 64, GAPS_BINS = 58 * GAPS_PARTS };

/* All 0 at first. */
struct gaps {
    uint64_t count;
    double sum_ns;
    uint64_t bins[GAPS_BINS];
};

/* Add a gap of `ns`, 0 or more. */
void gaps_add(struct gaps *gaps, int64_t ns);

/* The length that this share of all gaps does not exceed: the middle of a bin. 0 without gaps. */
double gaps_quantile_ns(const struct gaps *gaps, double share);
