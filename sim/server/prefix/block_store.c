/* LRU and no eviction use a pool of blocks, whose references hold blocks. Without eviction each
 * block keeps the reference with which it entered the pool. Any other policy sees one block at a
 * time: an offer is an access.
 */
#include "server/prefix/block_store.h"

#include "core/array.h"
#include "policy/kinds.h"

#include <assert.h>
#include <stdlib.h>

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

static struct policy *create_policy(uint32_t ids, uint64_t capacity, const struct policy_kind *kind,
                                    const double *values, bool holds, uint64_t seed,
                                    struct error *why)
{
    const struct policy_env env = {
        .blocks = ids,
        .capacity = capacity < ids ? (uint32_t)capacity : ids,
        .wanted = 1,
        .order = POLICY_SEQUENTIAL,
        .seed = seed,
    };
    return check_kind(kind, holds, why) ? policy_create(kind, values, &env, why) : NULL;
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
        store->policy = create_policy(ids, capacity, kind, values, holds, seed, why);
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
    uint32_t now, most;
    if (store->policy == NULL) {
        return block_pool_census(store->pool);
    }
    policy_footprint(store->policy, &now, &most);
    return (struct block_census){.capacity = store->capacity,
                                 .free = store->capacity > now ? store->capacity - now : 0,
                                 .known = now,
                                 .idle = now};
}

bool block_store_check(const struct block_store *store, struct error *why)
{
    return store->policy == NULL || policy_check(store->policy, why);
}
