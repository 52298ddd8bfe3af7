/* No cache: every wanted block is fetched, and not kept. */
#include "policy/policy.h"

static void none_access(struct policy *policy, const struct demand *demand, struct outcome *outcome)
{
    (void)policy;
    outcome->missed = demand->wanted;
    outcome->attended = demand_wanted(demand);
}

const struct policy_kind policy_none = {
    .name = "none",
    .summary = "nothing is cached",
    .size = sizeof(struct policy),
    .access = none_access,
};
