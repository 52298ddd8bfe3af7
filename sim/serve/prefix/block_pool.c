/* Idle blocks are a doubly linked list through two arrays over the numbers. The block that has been
 * idle longest is in front; index `ids` is the list's end.
 *
 * Invariant: capacity = free + taken + known, and the list has the known blocks without references.
 * Each amount is counted separately, so that an error shows as a disagreement (conservation.h).
 */
#include "serve/prefix/block_pool.h"

#include "base/array.h"

#include <assert.h>
#include <stdlib.h>

/* `references` counts one more for a known block, so that a zeroed array holds none: most numbers
 * are never used, and their memory is never touched. */
enum { UNKNOWN = 0, KNOWN = 1 };

struct block_pool {
    struct block_census census;
    uint64_t first_uses;
    uint32_t ids;
    uint32_t *references;  /* by number: UNKNOWN, or KNOWN and its references */
    uint32_t *next, *last; /* [ids + 1] links of the list; `last` is the previous block */
    void (*on_evict)(uint32_t id, void *context);
    void *context;
};

void block_pool_destroy(struct block_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    free(pool->references);
    free(pool->next);
    free(pool->last);
    free(pool);
}

struct block_pool *block_pool_create(uint32_t ids, uint64_t capacity,
                                     void (*on_evict)(uint32_t id, void *context), void *context,
                                     struct error *why)
{
    struct block_pool *pool = array_zeroed(1, sizeof *pool, why);
    if (pool == NULL) {
        return NULL;
    }
    *pool = (struct block_pool){
        .census = {.capacity = capacity, .free = capacity},
        .ids = ids,
        .on_evict = on_evict,
        .context = context,
    };
    size_t count = (size_t)ids + 1;
    if ((pool->references = array_zeroed(count, sizeof *pool->references, why)) == NULL ||
        (pool->next = array_zeroed(count, sizeof *pool->next, why)) == NULL ||
        (pool->last = array_zeroed(count, sizeof *pool->last, why)) == NULL) {
        block_pool_destroy(pool);
        return NULL;
    }
    pool->next[ids] = pool->last[ids] = ids;
    return pool;
}

bool block_pool_knows(const struct block_pool *pool, uint32_t id)
{
    return pool->references[id] != UNKNOWN;
}

bool block_pool_is_idle(const struct block_pool *pool, uint32_t id)
{
    return pool->references[id] == KNOWN;
}

uint64_t block_pool_room(const struct block_pool *pool)
{
    return pool->census.free + pool->census.idle;
}

uint64_t block_pool_first_uses(const struct block_pool *pool)
{
    return pool->first_uses;
}

struct block_census block_pool_census(const struct block_pool *pool)
{
    return pool->census;
}

/* ---- the list of idle blocks ---------------------------------------------------------- */

static void unlink_idle(struct block_pool *pool, uint32_t id)
{
    pool->next[pool->last[id]] = pool->next[id];
    pool->last[pool->next[id]] = pool->last[id];
    pool->census.idle--;
}

static void append_idle(struct block_pool *pool, uint32_t id)
{
    uint32_t tail = pool->last[pool->ids];
    pool->next[tail] = id;
    pool->last[id] = tail;
    pool->next[id] = pool->ids;
    pool->last[pool->ids] = id;
    pool->census.idle++;
}

static void evict_oldest(struct block_pool *pool)
{
    uint32_t id = pool->next[pool->ids];
    unlink_idle(pool, id);
    pool->references[id] = UNKNOWN;
    pool->census.known--;
    pool->census.free++;
    if (pool->on_evict != NULL) {
        pool->on_evict(id, pool->context);
    }
}

/* ---- what owners do ------------------------------------------------------------------- */

void block_pool_take(struct block_pool *pool, uint64_t count)
{
    assert(count <= block_pool_room(pool));
    while (pool->census.free < count) {
        evict_oldest(pool);
    }
    pool->census.free -= count;
    pool->census.taken += count;
}

void block_pool_give_back(struct block_pool *pool, uint64_t count)
{
    assert(count <= pool->census.taken);
    pool->census.taken -= count;
    pool->census.free += count;
}

void block_pool_refer(struct block_pool *pool, uint32_t id)
{
    assert(block_pool_knows(pool, id));
    if (pool->references[id]++ == KNOWN) {
        unlink_idle(pool, id);
        pool->first_uses++;
    }
    pool->census.references++;
}

void block_pool_release(struct block_pool *pool, uint32_t id)
{
    assert(block_pool_knows(pool, id) && pool->references[id] > KNOWN);
    if (--pool->references[id] == KNOWN) {
        append_idle(pool, id);
    }
    pool->census.references--;
}

void block_pool_name(struct block_pool *pool, uint32_t id)
{
    if (block_pool_knows(pool, id)) {
        block_pool_refer(pool, id);
        block_pool_give_back(pool, 1);
    } else {
        pool->references[id] = KNOWN + 1;
        pool->first_uses++;
        pool->census.taken--;
        pool->census.known++;
        pool->census.references++;
    }
}
