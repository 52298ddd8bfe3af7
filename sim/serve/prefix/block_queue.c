#include "serve/prefix/block_queue.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

void block_queue_release(struct block_queue *queue)
{
    free(queue->items);
    *queue = (struct block_queue){.items = NULL};
}

bool block_queue_push(struct block_queue *queue, struct block_copy copy, struct error *why)
{
    if (queue->first > queue->count / 2) {
        queue->count -= queue->first;
        memmove(queue->items, queue->items + queue->first, queue->count * sizeof *queue->items);
        queue->first = 0;
    }
    if (!array_reserve(&queue->items, &queue->capacity, queue->count + 1, sizeof *queue->items,
                       why)) {
        return false;
    }
    queue->items[queue->count++] = copy;
    queue->crossing += copy.crosses;
    queue->upper += copy.upper;
    queue->lower += copy.lower;
    return true;
}

const struct block_copy *block_queue_front(const struct block_queue *queue)
{
    return queue->first < queue->count ? &queue->items[queue->first] : NULL;
}

void block_queue_pop(struct block_queue *queue)
{
    const struct block_copy *copy = &queue->items[queue->first++];
    queue->crossing -= copy->crosses;
    queue->upper -= copy->upper;
    queue->lower -= copy->lower;
}
