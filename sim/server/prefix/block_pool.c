#include "server/prefix/block_pool.h"

#include <assert.h>
#include <stdlib.h>

void block_pool_destroy(struct block_pool *pool)
{
    if (pool == NULL) {
        return;
    }
    array_sparse_free(pool->places);
    free(pool);
}

struct block_pool *block_pool_create(struct block_numbers *numbers, uint64_t capacity,
                                     void (*on_evict)(uint32_t id, bool back, void *context),
                                     void *context, struct error *why)
{
    uint32_t ids = numbers->most;
    struct block_pool *pool = array_zeroed(1, sizeof *pool, why);
    if (pool == NULL) {
        return NULL;
    }
    *pool = (struct block_pool){
        .census = {.capacity = capacity, .free = capacity},
        .ids = ids,
        .numbers = numbers,
        .on_evict = on_evict,
        .context = context,
    };
    pool->places = array_sparse((size_t)ids + 1, sizeof *pool->places, why);
    if (pool->places == NULL) {
        block_pool_destroy(pool);
        return NULL;
    }
    pool->places[ids].next = pool->places[ids].last = ids;
    return pool;
}

/* ---- what owners do ------------------------------------------------------------------- */

void block_pool_take(struct block_pool *pool, uint64_t count)
{
    assert(count <= block_pool_room(pool));
    while (pool->census.free < count) {
        uint32_t oldest = pool->places[pool->ids].next, blocks = block_pool_count(pool, oldest);
        uint64_t evicted = count - pool->census.free;
        bool back = pool->places[oldest].back;
        if (evicted < blocks) {
            uint64_t kept = back ? blocks - evicted : evicted;
            uint32_t rest = block_numbers_cut(pool->numbers, oldest, (uint32_t)kept);
            oldest = back ? rest : oldest;
        }
        evicted = block_pool_count(pool, oldest);
        block_pool_unlink(pool, oldest);
        pool->places[oldest].references = BLOCK_UNKNOWN;
        pool->census.idle -= evicted;
        pool->census.known -= evicted;
        pool->census.free += evicted;
        if (pool->on_evict != NULL) {
            pool->on_evict(oldest, back, pool->context);
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

void block_pool_name(struct block_pool *pool, uint32_t id)
{
    uint32_t count = block_pool_count(pool, id);
    if (block_pool_knows(pool, id)) {
        block_pool_refer(pool, id);
        block_pool_give_back(pool, count);
    } else {
        pool->places[id].references = BLOCK_KNOWN + 1;
        block_pool_grow(pool, count);
    }
}

/* ---- pieces --------------------------------------------------------------------------- */

static void insert_behind(struct block_pool *pool, uint32_t place, uint32_t front)
{
    struct block_place *places = pool->places;
    places[place].last = front;
    places[place].next = places[front].next;
    places[places[front].next].last = place;
    places[front].next = place;
}

void block_pool_cut(struct block_pool *pool, uint32_t id, uint32_t rest)
{
    struct block_place *piece = &pool->places[id];
    pool->places[rest].references = piece->references;
    pool->places[rest].back = piece->back;
    if (block_pool_is_idle(pool, id)) {
        insert_behind(pool, rest, piece->back ? piece->last : id);
    }
}

/* Idle ones are neighbours in the list, in the order in which their blocks are. */
bool block_pool_joins(const struct block_pool *pool, uint32_t id, uint32_t rest)
{
    const struct block_place *one = &pool->places[id], *two = &pool->places[rest];
    bool idle = one->references == BLOCK_KNOWN;
    bool back = one->back || block_pool_count(pool, id) == 1;
    bool forth = !one->back || block_pool_count(pool, id) == 1;
    back = back && (two->back || block_pool_count(pool, rest) == 1);
    forth = forth && (!two->back || block_pool_count(pool, rest) == 1);
    return one->references == two->references &&
           (!idle || (back && two->next == id) || (forth && one->next == rest));
}

void block_pool_join(struct block_pool *pool, uint32_t id, uint32_t rest)
{
    if (block_pool_is_idle(pool, rest)) {
        pool->places[id].back = pool->places[rest].next == id;
        block_pool_unlink(pool, rest);
    }
    pool->places[rest].references = BLOCK_UNKNOWN;
}

/* LRU and no eviction use a pool of blocks, whose references hold blocks. Without eviction each
 * block keeps the reference with which it entered the pool. Any other policy sees one block at a
 * time: an offer is an access. */

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

struct block_store *block_store_create(struct block_numbers *numbers, uint64_t capacity,
                                       const struct policy_kind *kind, const double *values,
                                       bool holds, uint64_t seed,
                                       void (*on_evict)(uint32_t id, bool back, void *context),
                                       void *context, struct error *why)
{
    uint32_t ids = numbers->most;
    struct block_store *store = array_zeroed(1, sizeof *store, why);
    if (store == NULL) {
        return NULL;
    }
    store->evicts = kind != NULL;
    store->capacity = capacity;
    store->numbers = numbers;
    if (block_store_forgets(kind)) {
        store->pool = block_pool_create(numbers, capacity, on_evict, context, why);
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

/* Let the policy see a block. Did it take it? */
static bool block_store_access(struct block_store *store, uint32_t id)
{
    static const uint8_t mass = 0;
    const struct demand demand = {.units = &id, .mass = &mass, .wanted = 1, .recorded = 1};
    struct outcome outcome;
    policy_access(store->policy, &demand, &outcome);
    return outcome.admitted > 0;
}

void block_store_touch(struct block_store *store, uint32_t id, bool back)
{
    if (store->policy != NULL) {
        block_store_access(store, id);
    } else {
        block_pool_touch(store->pool, id, back);
    }
}

/* What is evicted may go where pieces of `part` are, and cut them. */
static void block_store_take(struct block_store *store, struct piece_span part, bool back)
{
    block_pool_take(store->pool, part.count);
    while (part.count > 0) {
        uint32_t id = piece_span_next(store->numbers, &part, back);
        block_pool_name(store->pool, id);
        if (store->evicts) {
            block_pool_release(store->pool, id, back);
        }
    }
}

struct piece_span block_store_offer(struct block_store *store, struct piece_span *span, bool back,
                                    bool *took)
{
    uint32_t id = piece_span_piece(store->numbers, span, back);
    uint64_t count = store->numbers->pieces[id].count;
    uint64_t room = store->policy == NULL ? block_pool_room(store->pool) : 0;
    bool knows = block_store_knows(store, id);
    *took = !knows && room > 0;
    count = *took && room < count ? room : count;
    const struct piece_span part = piece_span_take(store->numbers, span, (uint32_t)count, back);
    if (store->policy != NULL) {
        *took = block_store_access(store, id);
    } else if (*took) {
        block_store_take(store, part, back);
    } else if (knows) {
        block_pool_touch(store->pool, id, back);
    }
    return part;
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
