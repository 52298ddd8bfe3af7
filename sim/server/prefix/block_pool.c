/* Idle blocks are a doubly linked list through two arrays over the numbers. The block that has been
 * idle longest is in front; index `ids` is the list's end. Behind it in the arrays are two places
 * for each run: its blocks become idle together, so that a place in the list stands for many.
 *
 * Invariant: capacity = free + taken + known, and the list has the known blocks without references.
 * Each amount is counted separately, so that an error shows as a disagreement (server_state.h).
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
        uint32_t oldest = pool->next[pool->ids], at = oldest - pool->ids - 1;
        uint64_t evicted = 1;
        if (oldest < pool->ids) {
            unlink_idle(pool, oldest);
            pool->references[oldest] = UNKNOWN;
        } else { /* a place of a run */
            evicted = leave_place(pool, at / 2, at % 2, count - pool->census.free);
        }
        pool->census.known -= evicted;
        pool->census.free += evicted;
        if (oldest < pool->ids && pool->on_evict != NULL) {
            pool->on_evict(oldest, pool->context);
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
        append_place(pool, id);
        pool->census.idle++;
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

/* LRU and no eviction use a pool of blocks, whose references hold blocks. Without eviction each
 * block keeps the reference with which it entered the pool. Any other policy sees one block at a
 * time: an offer is an access.
 */

struct block_store {
    struct policy *policy;   /* this one */
    struct block_pool *pool; /* or this one; the other is NULL */
    bool evicts;             /* may the pool evict? */
    uint64_t capacity;       /* blocks */
};

static bool check_kind(const struct policy_kind *kind, bool holds, struct error *why)
{
    if (kind->needs_queries || kind->needs_next_use || kind->chooses_own || kind->holds == NULL) {
        error_usage(why, NULL, 0, "policy '%s' cannot run the host tier of a prefix cache",
                    kind->name);
        return error_expect(why, "a policy that admits and evicts block by block, such as lru");
    }
    if (holds) {
        error_usage(why, NULL, 0, "policy '%s' cannot pin blocks of a host tier", kind->name);
        return error_expect(why, "lru, or no eviction");
    }
    return true;
}

bool block_store_forgets(const struct policy_kind *kind)
{
    return kind == NULL || kind == &policy_lru;
}

struct block_store *block_store_create(uint32_t ids, uint64_t capacity,
                                       const struct policy_kind *kind, const double *values,
                                       bool holds, uint64_t seed,
                                       void (*on_evict)(uint32_t id, void *context), void *context,
                                       struct error *why)
{
    struct block_store *store = array_zeroed(1, sizeof *store, why);
    if (store == NULL) {
        return NULL;
    }
    store->evicts = kind != NULL;
    store->capacity = capacity;
    if (block_store_forgets(kind)) {
        store->pool = block_pool_create(ids, 0, capacity, on_evict, context, why);
    } else {
        const struct policy_env env = {.blocks = ids,
                                       .capacity = capacity < ids ? (uint32_t)capacity : ids,
                                       .wanted = 1,
                                       .order = POLICY_SEQUENTIAL,
                                       .seed = seed};
        store->policy =
            check_kind(kind, holds, why) ? policy_create(kind, values, &env, why) : NULL;
    }
    if (store->pool == NULL && store->policy == NULL) {
        block_store_destroy(store);
        return NULL;
    }
    return store;
}

void block_store_destroy(struct block_store *store)
{
    if (store == NULL) {
        return;
    }
    policy_destroy(store->policy);
    block_pool_destroy(store->pool);
    free(store);
}

bool block_store_knows(const struct block_store *store, uint32_t id)
{
    return store->policy != NULL ? store->policy->kind->holds(store->policy, id)
                                 : block_pool_knows(store->pool, id);
}

void block_store_hold(struct block_store *store, uint32_t id)
{
    assert(store->policy == NULL);
    block_pool_refer(store->pool, id);
}

void block_store_let_go(struct block_store *store, uint32_t id)
{
    block_pool_release(store->pool, id);
}

static bool offer_to_pool(struct block_store *store, uint32_t id)
{
    bool known = block_pool_knows(store->pool, id);
    if (known) {
        block_pool_refer(store->pool, id);
    } else if (block_pool_room(store->pool) > 0) {
        block_pool_take(store->pool, 1);
        block_pool_name(store->pool, id);
    } else {
        return false;
    }
    if (known || store->evicts) {
        block_pool_release(store->pool, id);
    }
    return !known;
}

bool block_store_offer(struct block_store *store, uint32_t id)
{
    static const uint8_t mass = 0;
    const struct demand demand = {.units = &id, .mass = &mass, .wanted = 1, .recorded = 1};
    struct outcome outcome;
    if (store->policy == NULL) {
        return offer_to_pool(store, id);
    }
    policy_access(store->policy, &demand, &outcome);
    return outcome.admitted > 0;
}

struct block_census block_store_census(const struct block_store *store)
{
    if (store->policy == NULL) {
        return block_pool_census(store->pool);
    }
    uint32_t now = store->policy->held;
    return (struct block_census){.capacity = store->capacity,
                                 .free = store->capacity > now ? store->capacity - now : 0,
                                 .known = now,
                                 .idle = now};
}

bool block_store_check(const struct block_store *store, struct error *why)
{
    return store->policy == NULL || policy_check(store->policy, why);
}
