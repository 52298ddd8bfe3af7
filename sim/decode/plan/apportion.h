/* Integer shares that add up. */
#ifndef DECODE_PLAN_APPORTION_H
#define DECODE_PLAN_APPORTION_H

#include <stddef.h>
#include <stdint.h>

/* The mean of a sum over `count` items, rounded to nearest. */
int64_t apportion_mean(int64_t sum, uint32_t count);

/* Means of several sums over `count` items, rounded so that they add up to `total` (the rounded
 * mean of the sum of all), by largest remainder, ties by position. Sums are not negative. */
void apportion(const int64_t *sums, size_t n, uint32_t count, int64_t total, int64_t *means);

#endif
