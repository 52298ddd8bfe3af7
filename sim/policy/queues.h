/* Up to four queues over the same blocks, oldest first; a block is in at most one of them.
 *
 * As in lru.c, a queue is a log of pushes. The `place` of a block names its queue and its position
 * in the log; a log entry that its block's place does not point to is stale. Removing a block
 * clears its place; finding the oldest steps over stale entries. When a log is full, its valid
 * entries move to its start; they fill at most half of it, so a push is O(1) amortised.
 *
 *     place    2 bits of queue, 30 bits of position in its log, from 1; 0: in none
 *
 * Blocks in QUEUE_HELD and QUEUE_HELD_2 are in the cache: their places have the highest bit set.
 * Blocks in QUEUE_GHOST and QUEUE_GHOST_2 are only remembered.
 */
#pragma once

#include "core/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { QUEUE_GHOST, QUEUE_GHOST_2, QUEUE_HELD, QUEUE_HELD_2, QUEUES };

struct queues {
    uint32_t *place; /* [blocks] */
    uint32_t length; /* of each log; position 0 is not used */
    struct queue {
        uint32_t *log;
        uint32_t oldest, end; /* positions: the valid entries lie in [oldest, end) */
        uint32_t count;
    } queue[QUEUES];
};

/* Four empty queues over `blocks`. On failure nothing is left to release. */
bool queues_init(struct queues *queues, uint32_t blocks, struct error *why);
void queues_release(struct queues *queues);

/* Make room in a full log; for queue_push(). */
void queue_clean(struct queues *queues, uint32_t name);

static inline bool queues_hold(const struct queues *queues, uint32_t block)
{
    return queues->place[block] >> 31;
}

/* Is the block in this queue? */
static inline bool queue_has(const struct queues *queues, uint32_t name, uint32_t block)
{
    uint32_t place = queues->place[block];
    return place != 0 && place >> 30 == name;
}

static inline uint32_t queue_count(const struct queues *queues, uint32_t name)
{
    return queues->queue[name].count;
}

/* Remove a block from the queue that it is in. */
static inline void queue_remove(struct queues *queues, uint32_t block)
{
    queues->queue[queues->place[block] >> 30].count--;
    queues->place[block] = 0;
}

/* Put a block that is in no queue at the newest end of this one. */
static inline void queue_push(struct queues *queues, uint32_t name, uint32_t block)
{
    struct queue *queue = &queues->queue[name];
    if (queue->end == queues->length) {
        queue_clean(queues, name);
    }
    uint32_t end = queue->end++;
    queue->count++;
    queue->log[end] = block;
    queues->place[block] = name << 30 | end;
}

/* The oldest block of a queue that is not empty. */
static inline uint32_t queue_oldest(struct queues *queues, uint32_t name)
{
    struct queue *queue = &queues->queue[name];
    const uint32_t *place = queues->place, *log = queue->log;
    uint32_t at = queue->oldest;
    while (place[log[at]] != (name << 30 | at)) {
        at++;
    }
    queue->oldest = at;
    return log[at];
}

/* Remove the oldest block and return it. */
static inline uint32_t queue_pop(struct queues *queues, uint32_t name)
{
    uint32_t block = queue_oldest(queues, name);
    queues->place[block] = 0;
    queues->queue[name].oldest++;
    queues->queue[name].count--;
    return block;
}
