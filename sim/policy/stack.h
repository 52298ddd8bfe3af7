/* LRU caches of all sizes in one pass: how deep a block lies.
 *
 * R. L. Mattson et al., "Evaluation techniques for storage hierarchies", 1970. An LRU cache of c
 * blocks holds the c blocks touched last, so an access hits every cache that is at least as large
 * as the depth of its block: the number of different blocks touched since the block was touched
 * last, counting the block itself. Depths are taken in the state before the demand, as
 * sim/policy/lru.c looks up in a batch.
 */
#pragma once

#include <stdint.h>

#include "policy/policy.h"

struct stack;

/* An empty stack for blocks below `blocks`. */
struct stack *stack_create(uint32_t blocks, struct error *why);
void stack_destroy(struct stack *stack); /* NULL is fine */

/* Handle a demand: O(log blocks) for each wanted block. */
void stack_access(struct stack *stack, const struct demand *demand);

/* The current depth of a block; 0: never touched. */
uint32_t stack_depth(struct stack *stack, uint32_t block);

/* Bits of a word. */

/* The number of bits set. Compilers call a function for it unless built for newer processors. */
static inline uint32_t bits_set(uint64_t word)
{
    word -= word >> 1 & 0x5555555555555555;
    word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
    word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f;
    return (uint32_t)(word * 0x0101010101010101 >> 56);
}
