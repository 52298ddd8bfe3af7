/* The whole LRU curve in one pass: how often each cache size would have hit.
 *
 * R. L. Mattson et al., "Evaluation techniques for storage hierarchies", 1970. An LRU cache of c
 * blocks holds the c blocks touched last, so an access hits every cache that is at least as large
 * as its depth: the number of blocks touched since its block was, itself included. Depths are of
 * the state before the demand (POLICY_BATCH), or before the access (POLICY_SEQUENTIAL), exactly as
 * sim/policy/lru.c would look up.
 */
#ifndef POLICY_STACK_H
#define POLICY_STACK_H

#include "policy/policy.h"

struct stack;

/* An empty stack for blocks below `blocks`. */
struct stack *stack_create(uint32_t blocks, enum policy_order order, struct error *why);
void stack_destroy(struct stack *stack); /* NULL is fine */

/* Handle a demand: O(log blocks) for each block wanted. One that does not count, as in a warm-up,
 * only moves the blocks. */
void stack_access(struct stack *stack, const struct demand *demand, bool counts);

/* The depth of a block now; 0: never touched. */
uint32_t stack_depth(struct stack *stack, uint32_t block);

/* The misses of a cache of each size from 0 to `blocks` into misses[0 ... blocks]. */
void stack_misses(const struct stack *stack, uint64_t *misses);

#endif
