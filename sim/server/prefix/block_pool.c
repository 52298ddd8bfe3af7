/* Idle blocks are a doubly linked list through two arrays over the numbers. The block that has been
 * idle longest is in front; index `ids` is the list's end. Behind it in the arrays are two places
 * for each run: its blocks become idle together, so that a place in the list stands for many.
 *
 * Invariant: capacity = free + taken + known, and the list has the known blocks without references.
 * Each amount is counted separately, so that an error shows as a disagreement (conservation.h).
 */
#include "server/prefix/block_pool.h"

#include "core/array.h"

#include <assert.h>
#include <stdlib.h>

/* `references` counts one more for a known block, so that a zeroed array holds none: most numbers
 * are never used, and their memory is never touched. */
enum { UNKNOWN = 0, KNOWN = 1 };

/* The known blocks of a run: the first have a reference, the others are idle, in up to two places.
 * The lower ones are in place `low`, the higher ones, which have been idle longer, in the other. */
struct block_pool_run {
    uint32_t held, idle[2];
    uint32_t low;
};

struct block_pool {
    struct block_census census;
    uint64_t first_uses;
    uint32_t ids;
    uint32_t *references;  /* by number: UNKNOWN, or KNOWN and its references */
    uint32_t *next, *last; /* [ids + 1 + 2 * runs] links of the list; `last` is the previous one */
    struct block_pool_run *runs;
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
    free(pool->runs);
    free(pool);
}

struct block_pool *block_pool_create(uint32_t ids, uint32_t runs, uint64_t capacity,
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
    size_t count = (size_t)ids + 1 + 2 * (size_t)runs;
    if ((pool->references = array_zeroed(ids, sizeof *pool->references, why)) == NULL ||
        (pool->runs = array_zeroed(runs, sizeof *pool->runs, why)) == NULL ||
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

static void unlink_place(struct block_pool *pool, uint32_t place)
{
    pool->next[pool->last[place]] = pool->next[place];
    pool->last[pool->next[place]] = pool->last[place];
}

static void append_place(struct block_pool *pool, uint32_t place)
{
    uint32_t tail = pool->last[pool->ids];
    pool->next[tail] = place;
    pool->last[place] = tail;
    pool->next[place] = pool->ids;
    pool->last[pool->ids] = place;
}

static void unlink_idle(struct block_pool *pool, uint32_t id)
{
    unlink_place(pool, id);
    pool->census.idle--;
}

static void append_idle(struct block_pool *pool, uint32_t id)
{
    append_place(pool, id);
    pool->census.idle++;
}

static void block_pool_evict(struct block_pool *pool, uint32_t id)
{
    unlink_idle(pool, id);
    pool->references[id] = UNKNOWN;
    pool->census.known--;
    pool->census.free++;
    if (pool->on_evict != NULL) {
        pool->on_evict(id, pool->context);
    }
}

/* ---- runs ----------------------------------------------------------------------------- */

static uint32_t block_pool_place_of(const struct block_pool *pool, uint32_t run, uint32_t which)
{
    return pool->ids + 1 + 2 * run + which;
}

/* At most `most` idle blocks of a place of the run are idle no more. Returns how many. */
static uint64_t leave_place(struct block_pool *pool, uint32_t run, uint32_t which, uint64_t most)
{
    uint32_t *idle = &pool->runs[run].idle[which];
    uint64_t count = most < *idle ? most : *idle;
    *idle -= (uint32_t)count;
    pool->census.idle -= count;
    if (count > 0 && *idle == 0) {
        unlink_place(pool, block_pool_place_of(pool, run, which));
    }
    return count;
}

/* Evict up to `most` blocks of the place in front, which is a run's. */
static void evict_run(struct block_pool *pool, uint32_t place, uint64_t most)
{
    uint32_t at = place - pool->ids - 1;
    uint64_t count = leave_place(pool, at / 2, at % 2, most);
    pool->census.known -= count;
    pool->census.free += count;
}

uint64_t block_pool_run_known(const struct block_pool *pool, uint32_t run)
{
    const struct block_pool_run *of = &pool->runs[run];
    return (uint64_t)of->held + of->idle[0] + of->idle[1];
}

/* The next `count` blocks of the run have a reference. Returns how many of them were idle. */
static uint64_t hold_run(struct block_pool *pool, uint32_t run, uint64_t count)
{
    struct block_pool_run *of = &pool->runs[run];
    uint64_t idle = leave_place(pool, run, of->low, count);
    idle += leave_place(pool, run, 1 - of->low, count - idle);
    of->held += (uint32_t)count;
    pool->census.references += count;
    pool->first_uses += count;
    return idle;
}

void block_pool_run_refer(struct block_pool *pool, uint32_t run, uint64_t count)
{
    assert(count <= block_pool_run_known(pool, run) - pool->runs[run].held);
    hold_run(pool, run, count);
}

void block_pool_run_name(struct block_pool *pool, uint32_t run, uint64_t count)
{
    uint64_t known = hold_run(pool, run, count);
    pool->census.taken -= count;
    pool->census.free += known;
    pool->census.known += count - known;
}

void block_pool_run_release(struct block_pool *pool, uint32_t run)
{
    struct block_pool_run *of = &pool->runs[run];
    if (of->held == 0) {
        return;
    }
    of->low = of->idle[of->low] == 0 ? of->low : 1 - of->low;
    assert(of->idle[of->low] == 0); /* see block_pool.h: one block at most stays idle */
    of->idle[of->low] = of->held;
    append_place(pool, block_pool_place_of(pool, run, of->low));
    pool->census.idle += of->held;
    pool->census.references -= of->held;
    of->held = 0;
}

/* ---- what owners do ------------------------------------------------------------------- */

void block_pool_take(struct block_pool *pool, uint64_t count)
{
    assert(count <= block_pool_room(pool));
    while (pool->census.free < count) {
        uint32_t oldest = pool->next[pool->ids];
        if (oldest < pool->ids) {
            block_pool_evict(pool, oldest);
        } else {
            evict_run(pool, oldest, count - pool->census.free);
        }
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
