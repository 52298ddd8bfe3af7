#include "policy/sizes.h"

#include <stdlib.h>

struct policy_sizes {
    struct arrays arrays;
    uint32_t policy_count;    /* 1 for all sizes, or one each */
    uint32_t count;           /* sizes */
    struct policy **policies; /* [policy_count] */
};

struct policy_sizes *policy_sizes_create(const struct policy_kind *kind, const double *values,
                                         const struct policy_env *env, const uint32_t *capacities,
                                         uint32_t count, struct error *why)
{
    struct policy_sizes *sizes = array_zeroed(1, sizeof *sizes, why);
    if (sizes == NULL) {
        return NULL;
    }
    sizes->count = count;
    sizes->policy_count = kind->ignores_capacity && count > 0 ? 1 : count;
    sizes->policies = arrays_add(&sizes->arrays, sizes->policy_count, sizeof(struct policy *), why);
    bool good = !sizes->arrays.failed;
    for (uint32_t i = 0; good && i < sizes->policy_count; i++) {
        struct policy_env own = *env;
        own.capacity = capacities[i];
        sizes->policies[i] = policy_create(kind, values, &own, why);
        good = sizes->policies[i] != NULL;
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
    for (uint32_t i = 0; sizes->policies != NULL && i < sizes->policy_count; i++) {
        policy_destroy(sizes->policies[i]);
    }
    arrays_release(&sizes->arrays);
    free(sizes);
}

void policy_sizes_access(struct policy_sizes *sizes, const struct demand *demand,
                         struct outcome *outcomes)
{
    for (uint32_t i = 0; i < sizes->count; i++) {
        if (i < sizes->policy_count) {
            policy_access(sizes->policies[i], demand, &outcomes[i]);
        } else {
            outcomes[i] = outcomes[0];
        }
    }
}

uint32_t policy_sizes_held(const struct policy_sizes *sizes, uint32_t size)
{
    return sizes->policies[sizes->policy_count > 1 ? size : 0]->held;
}

bool policy_sizes_check(const struct policy_sizes *sizes, struct error *why)
{
    bool good = true;
    for (uint32_t i = 0; good && i < sizes->policy_count; i++) {
        good = policy_check(sizes->policies[i], why);
    }
    return good;
}
