#include "policy/sizes.h"

#include "core/array.h"
#include "policy/kinds.h"
#include "policy/lru_sizes.h"

#include <stdlib.h>

/* From this many caches on, one pass is faster than separate policies. */
enum { WORTH_ONE_PASS = 3 };

struct policy_sizes {
    uint32_t count;
    struct lru_sizes *lru;    /* one pass for all sizes, or NULL */
    uint32_t policy_count;    /* 1 for all sizes, one each, or none */
    struct policy **policies; /* [policy_count] or NULL */
};

static bool create_each(struct policy_sizes *sizes, const struct policy_kind *kind,
                        const double *values, struct policy_env env, const uint32_t *capacities,
                        struct error *why)
{
    sizes->policy_count = kind->ignores_capacity && sizes->count > 0 ? 1 : sizes->count;
    sizes->policies = array_zeroed(sizes->policy_count, sizeof(struct policy *), why);
    bool good = sizes->policies != NULL;
    for (uint32_t i = 0; good && i < sizes->policy_count; i++) {
        env.capacity = capacities[i];
        sizes->policies[i] = policy_create(kind, values, &env, why);
        good = sizes->policies[i] != NULL;
    }
    return good;
}

struct policy_sizes *policy_sizes_create(const struct policy_kind *kind, const double *values,
                                         const struct policy_env *env, const uint32_t *capacities,
                                         uint32_t count, struct error *why)
{
    struct policy_sizes *sizes = array_zeroed(1, sizeof *sizes, why);
    if (sizes == NULL) {
        return NULL;
    }
    sizes->count = count;
    bool good;
    if (kind == &policy_lru && env->order == POLICY_BATCH && count >= WORTH_ONE_PASS &&
        count <= LRU_SIZES_MOST) {
        sizes->lru = lru_sizes_create(env->blocks, capacities, count, why);
        good = sizes->lru != NULL;
    } else {
        good = create_each(sizes, kind, values, *env, capacities, why);
    }
    if (!good) {
        policy_sizes_destroy(sizes);
        return NULL;
    }
    return sizes;
}

void policy_sizes_destroy(struct policy_sizes *sizes)
{
    if (sizes == NULL) {
        return;
    }
    lru_sizes_destroy(sizes->lru);
    for (uint32_t i = 0; sizes->policies != NULL && i < sizes->policy_count; i++) {
        policy_destroy(sizes->policies[i]);
    }
    free(sizes->policies);
    free(sizes);
}

void policy_sizes_access(struct policy_sizes *sizes, const struct demand *demand,
                         struct outcome *outcomes)
{
    if (sizes->lru != NULL) {
        lru_sizes_access(sizes->lru, demand, outcomes);
        return;
    }
    for (uint32_t i = 0; i < sizes->policy_count; i++) {
        policy_access(sizes->policies[i], demand, &outcomes[i]);
    }
    for (uint32_t i = sizes->policy_count; i < sizes->count; i++) {
        outcomes[i] = outcomes[0];
    }
}

uint32_t policy_sizes_held(const struct policy_sizes *sizes, uint32_t size)
{
    if (sizes->lru != NULL) {
        return lru_sizes_held(sizes->lru, size);
    }
    uint32_t held, most;
    policy_footprint(sizes->policies[sizes->policy_count > 1 ? size : 0], &held, &most);
    return held;
}

bool policy_sizes_check(const struct policy_sizes *sizes, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && sizes->policies != NULL && i < sizes->policy_count; i++) {
        good = policy_check(sizes->policies[i], why);
    }
    return good;
}
