/* Held blocks by how often they were touched, ties by when last: each step O(1).
 *
 * K. Shah, A. Mitra and D. Matani, "An O(1) algorithm for implementing the LFU cache eviction
 * scheme", 2010. Blocks of one count form a bucket, a ring in order of their last touch; buckets
 * form a ring in order of count. A touch moves a block to the next bucket.
 *
 *     head -- count 1 -- count 2 -- count 5 -- (head)
 *               |          |          |
 *              d, a        c          b        d is the least: fewest touches, longest ago
 *
 * Both kinds of ring run through their heads, so that to link and unlink takes no branch: the head
 * of bucket k is ring entry blocks + k, and bucket 0 is the head of the buckets.
 */
#ifndef POLICY_FREQUENCY_H
#define POLICY_FREQUENCY_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

struct frequency {
    uint32_t blocks;
    struct frequency_entry {
        uint32_t older, newer;
        uint32_t bucket; /* of a block; 0: not held */
    } * entries;         /* [blocks + 2 + capacity] */
    struct frequency_bucket {
        uint64_t count;
        uint32_t fewer, more;
    } * buckets;     /* [2 + capacity] */
    uint32_t vacant; /* first of the unused buckets, linked by `more` */
};

/* No block held, room for `capacity`. On failure nothing is left to release. */
bool frequency_init(struct frequency *frequency, uint32_t blocks, uint32_t capacity,
                    struct error *why);
void frequency_release(struct frequency *frequency);

static inline bool frequency_has(const struct frequency *frequency, uint32_t block)
{
    return frequency->entries[block].bucket != 0;
}

/* Hold a block that is not held, with a count of 1. */
void frequency_add(struct frequency *frequency, uint32_t block);
/* Count one more touch of a held block. */
void frequency_touch(struct frequency *frequency, uint32_t block);
/* The held block of least count, of several the one touched longest ago. At least one is held. */
uint32_t frequency_least(const struct frequency *frequency);
/* Let go of a held block; its count is lost. */
void frequency_remove(struct frequency *frequency, uint32_t block);

#endif
