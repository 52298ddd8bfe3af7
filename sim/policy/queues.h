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
 * Blocks in QUEUE_GHOST and QUEUE_GHOST_2 are only remembered. */
#pragma once

#include <stdint.h>

#include "core/array.h"

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

/* Four empty queues over `blocks`, in `arrays`. */
void queues_init(struct queues *queues, struct arrays *arrays, uint32_t blocks, struct error *why);

/* Make room in a full log; for queue_push(). */
void queue_clean(struct queues *queues, uint32_t name);

static inline bool queues_hold(const struct queues *queues, uint32_t block)
{
    return queues->place[block] >> 31;
}

static inline bool queue_has(const struct queues *queues, uint32_t name, uint32_t block)
{
    uint32_t place = queues->place[block];
    return place != 0 && place >> 30 == name;
}

static inline uint32_t queue_count(const struct queues *queues, uint32_t name)
{
    return queues->queue[name].count;
}

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

/* Held blocks ordered by how often they were touched, ties by their last touch. A heap by the ranks that
 * blocks had when they were put there. A touch counts, and moves nothing: ranks only grow, so a block that
 * comes to the top with an older rank sinks from there to its true place, and one whose rank is still the
 * same is the least of all. */

/* The lesser rank has fewer touches; of equal counts, the older last touch. */
struct frequency_rank {
    uint64_t count; /* 0: not held */
    uint64_t when;  /* number of the last touch, of all touches */
};

struct frequency {
    uint64_t touches;
    struct frequency_rank *rank; /* [blocks] */
    struct frequency_place {
        struct frequency_rank rank; /* the block's rank when it was put here */
        uint32_t block;
    } * heap;        /* [capacity + 1] from 1 */
    uint32_t *place; /* [blocks] place in the heap, of held blocks */
    uint32_t count;  /* in the heap */
};

/* Start with no block held and room for `capacity`, in `arrays`. */
void frequency_init(struct frequency *frequency, struct arrays *arrays, uint32_t blocks,
                    uint32_t capacity, struct error *why);

/* Add a block that is not held, with a count of 1. */
void frequency_add(struct frequency *frequency, uint32_t block);

/* The held block of least count; among equals the one touched longest ago. At least one is held. */
uint32_t frequency_least(struct frequency *frequency);

/* Remove a held block; its count is lost. */
void frequency_remove(struct frequency *frequency, uint32_t block);

static inline bool frequency_has(const struct frequency *frequency, uint32_t block)
{
    return frequency->rank[block].count != 0;
}

/* If the block is held, count one more touch of it, without a branch; returns whether it is held. */
static inline bool frequency_touch(struct frequency *frequency, uint32_t block)
{
    struct frequency_rank *rank = &frequency->rank[block];
    bool held = rank->count != 0;
    rank->count += held;
    rank->when = frequency->touches += held;
    return held;
}
