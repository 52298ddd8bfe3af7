/* Blocks that are being copied between two tiers, first come, first served, and the references
 * that each copy holds until it is done. */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct block_copy {
    uint32_t id;
    bool crosses;      /* the way; else it only waits for the copies in front of it */
    bool upper, lower; /* it holds a reference there until it is done */
};

struct block_queue {
    struct block_copy *items; /* pending copies are [first, count), owned */
    size_t first, count, capacity;
    uint64_t crossing, upper, lower; /* pending copies with each flag */
};

void block_queue_release(struct block_queue *queue);

/* False when memory is out. */
bool block_queue_push(struct block_queue *queue, struct block_copy copy, struct error *why);

/* The oldest pending copy, or NULL. The pointer is valid until the next push. */
static inline const struct block_copy *block_queue_front(const struct block_queue *queue)
{
    return queue->first < queue->count ? &queue->items[queue->first] : NULL;
}

static inline void block_queue_pop(struct block_queue *queue)
{
    const struct block_copy *copy = &queue->items[queue->first++];
    queue->crossing -= copy->crosses;
    queue->upper -= copy->upper;
    queue->lower -= copy->lower;
}
