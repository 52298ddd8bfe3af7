#include "server/prefix/block_queue.h"

#include "core/array.h"

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
    if (queue->count == queue->capacity &&
        !array_reserve(&queue->items, &queue->capacity, queue->count + 1, sizeof *queue->items,
                       why)) {
        return false;
    }
    queue->items[queue->count++] = copy;
    queue->crossing += copy.crosses;
    queue->upper += copy.upper;
    queue->lower += copy.lower;
    return true;
}
