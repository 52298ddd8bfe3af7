#include "study/whatif/knee.h"

static uint32_t find_largest(const uint32_t *sizes, uint32_t count)
{
    uint32_t largest = 0;
    for (uint32_t i = 1; i < count; i++) {
        largest = sizes[i] > sizes[largest] ? i : largest;
    }
    return largest;
}

/* Furthest below the line of misses is furthest above the line of hits, which starts at 0. */
bool knee_find(const uint32_t *sizes, const uint64_t *misses, uint32_t count, uint64_t accesses,
               uint32_t *index)
{
    if (count == 0) {
        return false;
    }
    uint32_t largest = find_largest(sizes, count);
    double hits_most = (double)(accesses - misses[largest]), furthest = 0;
    for (uint32_t i = 0; i < count; i++) {
        /* Hits above the line, times the largest size: whole numbers, exact below 2^53. */
        double beyond =
            (double)(accesses - misses[i]) * sizes[largest] - hits_most * (double)sizes[i];
        if (beyond > furthest || (beyond == furthest && beyond > 0 && sizes[i] < sizes[*index])) {
            furthest = beyond;
            *index = i;
        }
    }
    return furthest > 0;
}

bool knee_above(const double *x, const double *y, uint32_t count, uint32_t *index)
{
    double furthest = 0;
    for (uint32_t i = 1; i + 1 < count; i++) {
        double line = y[0] + (y[count - 1] - y[0]) * ((x[i] - x[0]) / (x[count - 1] - x[0]));
        if (y[i] - line > furthest) {
            furthest = y[i] - line;
            *index = i;
        }
    }
    return furthest > 0;
}
