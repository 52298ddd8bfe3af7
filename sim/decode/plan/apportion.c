/* Largest remainder: each item gets the whole part of its mean. The rest is given out one by one,
 * to the items whose means lost most. */
#include "decode/plan/apportion.h"

int64_t apportion_mean(int64_t sum, uint32_t count)
{
    return (2 * sum + count) / (2 * (int64_t)count);
}

void apportion(const int64_t *sums, size_t n, uint32_t count, int64_t total, int64_t *means)
{
    int64_t left = total;
    for (size_t i = 0; i < n; i++) {
        means[i] = sums[i] / count;
        left -= means[i];
    }
    while (left > 0) {
        size_t most = 0;
        int64_t most_lost = -1;
        for (size_t i = 0; i < n; i++) {
            int64_t lost = sums[i] - means[i] * count;
            if (lost > most_lost) {
                most = i;
                most_lost = lost;
            }
        }
        means[most]++;
        left--;
    }
}
