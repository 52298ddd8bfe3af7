/* Random numbers without state: each is a hash of a key and a number. Any step of any head can
 * therefore be drawn alone, in any order, on any thread, with the same result. Not for secrets.
 * The mixer is the finaliser of SplitMix64 (Steele, Lea and Flood 2014). Internal to sim/trace/. */
#pragma once

#include <stdint.h>

static inline uint64_t hash_at(uint64_t key, uint64_t number)
{
    uint64_t bits = key + number * 0x9E3779B97F4A7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D049BB133111EBu;
    return bits ^ bits >> 31;
}

static inline uint32_t hash_byte_sum(uint64_t bits)
{
    uint64_t pairs = (bits & 0x00FF00FF00FF00FFu) + (bits >> 8 & 0x00FF00FF00FF00FFu);
    return (uint32_t)(pairs * 0x0001000100010001u >> 48);
}

/* Mean and standard deviation of that sum. */
#define HASH_BYTES_MEAN 1020.0
#define HASH_BYTES_DEVIATION 209.0183

/* A nearly normal number, within 4.9 deviations; the kurtosis is 2.85 instead of 3. */
static inline double hash_normal(uint64_t bits)
{
    return (hash_byte_sum(bits) - HASH_BYTES_MEAN) / HASH_BYTES_DEVIATION;
}
