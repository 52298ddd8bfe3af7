/* No cache: every wanted block is fetched, and not kept. */
#include "core/array.h"
#include "policy/policy.h"

#include <stdlib.h>

static struct policy *none_create(const double *values, const struct policy_env *env,
                                  struct error *why)
{
    (void)values;
    (void)env;
    return array_zeroed(1, sizeof(struct policy), why);
}

static void none_access(struct policy *policy, const struct demand *demand, struct outcome *outcome)
{
    (void)policy;
    outcome->missed = demand->wanted;
    outcome->attended = demand_wanted(demand);
}

static void none_destroy(struct policy *policy)
{
    free(policy);
}

const struct policy_kind policy_none = {
    .name = "none",
    .summary = "nothing is cached",
    .create = none_create,
    .access = none_access,
    .destroy = none_destroy,
};
