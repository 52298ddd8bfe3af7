/* A queue of small numbers in a ring: first in, first out, in one array that grows.
 *
 * A zeroed struct is an empty ring. Pushing never allocates: make room first.
 */
#ifndef ENGINE_RING_H
#define ENGINE_RING_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring {
    uint32_t *items; /* owned; the queue is items[first], ..., wrapping at capacity */
    size_t capacity, first, count;
};

/* Make room for `needed` numbers in all. */
bool ring_reserve(struct ring *ring, size_t needed, struct error *why);

void ring_release(struct ring *ring);

/* Add at the end; ring_reserve() has made room for it. */
static inline void ring_push(struct ring *ring, uint32_t item)
{
    size_t slot = ring->first + ring->count++;
    ring->items[slot < ring->capacity ? slot : slot - ring->capacity] = item;
}

/* The first number of a ring that is not empty. */
static inline uint32_t ring_first(const struct ring *ring)
{
    return ring->items[ring->first];
}

/* Remove the first number and return it. */
static inline uint32_t ring_pop(struct ring *ring)
{
    uint32_t item = ring->items[ring->first];
    ring->first = ring->first + 1 < ring->capacity ? ring->first + 1 : 0;
    ring->count--;
    return item;
}

#endif
