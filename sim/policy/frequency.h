/* Held blocks by how often they were touched, ties by when last.
 *
 * After K. Shah, A. Mitra and D. Matani, "An O(1) algorithm for implementing the LFU cache eviction
 * scheme", 2010: blocks of one count form a ring in order of their last touch, and a touch moves a
 * block to the next ring. Here only counts up to FREQUENCY_RINGS have one. A block touched more
 * often is far from leaving, so its touches are written down and nothing is moved; it stands in a
 * heap at the place it once had, and goes on to its true one when it comes to the top.
 *
 *     rings    count 1: d, a      count 2: c      count 3: none ...     d is the least
 *     heap     all others
 *
 * A touch is O(1): to enter the heap takes log(blocks) steps, after as many touches. So is an
 * eviction while a ring has a block: LFU empties them all only when the block that came last was
 * touched FREQUENCY_RINGS times. Then it takes log(blocks) for each block that comes to the top.
 */
#ifndef POLICY_FREQUENCY_H
#define POLICY_FREQUENCY_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { FREQUENCY_RINGS = 32 };

/* Less is: fewer touches, then a last touch that is longer ago. */
struct frequency_rank {
    uint64_t count; /* 0: not held */
    uint64_t when;  /* number of the last touch, of all touches */
};

struct frequency {
    uint32_t blocks;
    uint64_t touches;
    struct frequency_rank *rank; /* [blocks] */
    struct frequency_link {
        uint32_t older, newer;
    } * links;      /* [blocks + FREQUENCY_RINGS + 1] the ring of count c begins at blocks + c */
    uint32_t least; /* no ring below this one has a block */
    struct frequency_place {
        struct frequency_rank rank; /* that the block had when it was put here */
        uint32_t block;
    } * heap;        /* [capacity + 1] from 1 */
    uint32_t *place; /* [blocks] in the heap; of those that are */
    uint32_t count;  /* in the heap */
};

/* No block held, room for `capacity`. On failure nothing is left to release. */
bool frequency_init(struct frequency *frequency, uint32_t blocks, uint32_t capacity,
                    struct error *why);
void frequency_release(struct frequency *frequency);

/* Hold a block that is not held, with a count of 1. */
void frequency_add(struct frequency *frequency, uint32_t block);
/* The held block of least count, of several the one touched longest ago. At least one is held. */
uint32_t frequency_least(struct frequency *frequency);
/* Let go of a held block; its count is lost. */
void frequency_remove(struct frequency *frequency, uint32_t block);

/* Take a block that was touched often enough out of the last ring; for frequency_touch(). */
void frequency_rise(struct frequency *frequency, uint32_t block);

static inline bool frequency_has(const struct frequency *frequency, uint32_t block)
{
    return frequency->rank[block].count != 0;
}

static inline void frequency_unlink(struct frequency *frequency, uint32_t block)
{
    struct frequency_link *links = frequency->links, own = links[block];
    links[own.older].newer = own.newer;
    links[own.newer].older = own.older;
}

/* Put a block at the new end of a ring. */
static inline void frequency_link(struct frequency *frequency, uint32_t ring, uint32_t block)
{
    struct frequency_link *links = frequency->links;
    uint32_t head = frequency->blocks + ring, newest = links[head].older;
    links[block] = (struct frequency_link){.older = newest, .newer = head};
    links[newest].newer = links[head].older = block;
}

/* If the block is held, count one more touch of it; returns whether it is. One branch, as a second
 * one that nobody can guess would cost more than all the rest. */
static inline bool frequency_touch(struct frequency *frequency, uint32_t block)
{
    struct frequency_rank *rank = &frequency->rank[block];
    bool held = rank->count != 0;
    uint64_t count = rank->count += held;
    rank->when = frequency->touches += held;
    if (count - 1 <= FREQUENCY_RINGS) {
        frequency_unlink(frequency, block);
        if (count <= FREQUENCY_RINGS) {
            frequency_link(frequency, (uint32_t)count, block);
        } else {
            frequency_rise(frequency, block);
        }
    }
    return held;
}

#endif
