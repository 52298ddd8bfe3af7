/* LRU and no eviction use a pool of blocks, whose references hold blocks. Without eviction each
 * block keeps the reference with which it entered the pool. Any other policy sees one block at a
 * time: an offer is an access.
 */
#include "serve/prefix/host_tier.h"

#include "base/array.h"
#include "policy/kinds.h"

#include <assert.h>
#include <stdlib.h>

struct host_tier {
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

bool host_tier_forgets(const struct policy_kind *kind)
{
    return kind == NULL || kind == &policy_lru;
}

struct host_tier *host_tier_create(uint32_t ids, uint64_t capacity, const struct policy_kind *kind,
                                   const double *values, bool holds, uint64_t seed,
                                   void (*on_evict)(uint32_t id, void *context), void *context,
                                   struct error *why)
{
    struct host_tier *host = array_zeroed(1, sizeof *host, why);
    if (host == NULL) {
        return NULL;
    }
    host->evicts = kind != NULL;
    host->capacity = capacity;
    if (host_tier_forgets(kind)) {
        host->pool = block_pool_create(ids, 0, capacity, on_evict, context, why);
    } else {
        host->policy = create_policy(ids, capacity, kind, values, holds, seed, why);
    }
    if (host->pool == NULL && host->policy == NULL) {
        host_tier_destroy(host);
        return NULL;
    }
    return host;
}

void host_tier_destroy(struct host_tier *host)
{
    if (host == NULL) {
        return;
    }
    policy_destroy(host->policy);
    block_pool_destroy(host->pool);
    free(host);
}

bool host_tier_knows(const struct host_tier *host, uint32_t id)
{
    return host->policy != NULL ? host->policy->kind->holds(host->policy, id)
                                : block_pool_knows(host->pool, id);
}

void host_tier_hold(struct host_tier *host, uint32_t id)
{
    assert(host->policy == NULL);
    block_pool_refer(host->pool, id);
}

void host_tier_let_go(struct host_tier *host, uint32_t id)
{
    block_pool_release(host->pool, id);
}

static bool offer_to_pool(struct host_tier *host, uint32_t id)
{
    bool known = block_pool_knows(host->pool, id);
    if (known) {
        block_pool_refer(host->pool, id);
    } else if (block_pool_room(host->pool) > 0) {
        block_pool_take(host->pool, 1);
        block_pool_name(host->pool, id);
    } else {
        return false;
    }
    if (known || host->evicts) {
        block_pool_release(host->pool, id);
    }
    return !known;
}

bool host_tier_offer(struct host_tier *host, uint32_t id)
{
    static const uint8_t mass = 0;
    const struct demand demand = {.units = &id, .mass = &mass, .wanted = 1, .recorded = 1};
    struct outcome outcome;
    if (host->policy == NULL) {
        return offer_to_pool(host, id);
    }
    policy_access(host->policy, &demand, &outcome);
    return outcome.admitted > 0;
}

struct block_census host_tier_census(const struct host_tier *host)
{
    uint32_t now, most;
    if (host->policy == NULL) {
        return block_pool_census(host->pool);
    }
    policy_footprint(host->policy, &now, &most);
    return (struct block_census){.capacity = host->capacity,
                                 .free = host->capacity > now ? host->capacity - now : 0,
                                 .known = now,
                                 .idle = now};
}

bool host_tier_check(const struct host_tier *host, struct error *why)
{
    return host->policy == NULL || policy_check(host->policy, why);
}
