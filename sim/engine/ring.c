/* Growing a ring: the items between the first one and the old end move to the new end, so that the
 * ring wraps there. */
#include "engine/ring.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

bool ring_reserve(struct ring *ring, size_t needed, struct error *why)
{
    size_t before = ring->capacity;
    if (needed <= before) {
        return true;
    }
    if (!array_reserve(&ring->items, &ring->capacity, needed, sizeof *ring->items, why)) {
        return false;
    }
    size_t first = ring->first + (ring->capacity - before);
    if (ring->first + ring->count > before) {
        memmove(&ring->items[first], &ring->items[ring->first],
                (before - ring->first) * sizeof *ring->items);
        ring->first = first;
    }
    return true;
}

void ring_release(struct ring *ring)
{
    free(ring->items);
    *ring = (struct ring){0};
}
