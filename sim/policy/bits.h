/* Bits of a word. */
#pragma once

#include <stdint.h>

/* The number of bits set. Compilers call a function for it unless built for newer processors. */
static inline uint32_t bits_set(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (uint32_t)(word * 0x0101010101010101 >> 56);
}
