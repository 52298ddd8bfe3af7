/* Sums and products that stay at UINT64_MAX instead of wrapping: a size past 64 bits is too large
 * for any memory, and must never come out small. */
#pragma once

#include <stdint.h>

static inline uint64_t whole_sum(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

static inline uint64_t whole_product(uint64_t a, uint64_t b)
{
    uint64_t product;
    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

/* a / b, rounded up; a is far from UINT64_MAX. */
static inline uint64_t whole_share(uint64_t a, uint64_t b)
{
    return (a + b - 1) / b;
}
