/* A policy sees one block at a time: an offer is an access. */
#include "serve/host_tier.h"

#include "base/array.h"

#include <stdlib.h>

struct host_tier {
    struct policy *policy; /* NULL: never evicts */
    bool *held;            /* by number, without a policy */
    uint64_t room;         /* blocks, without a policy */
};

static bool check_kind(const struct policy_kind *kind, struct error *why)
{
    if (kind->needs_queries || kind->needs_next_use || kind->chooses_own || kind->holds == NULL) {
        error_usage(why, NULL, 0, "policy '%s' cannot run the host tier of a prefix cache",
                    kind->name);
        return error_expect(why, "a policy that admits and evicts block by block, such as lru");
    }
    return true;
}

static struct policy *create_policy(uint32_t ids, uint64_t capacity, const struct policy_kind *kind,
                                    const double *values, uint64_t seed, struct error *why)
{
    const struct policy_env env = {
        .blocks = ids,
        .capacity = capacity < ids ? (uint32_t)capacity : ids,
        .wanted = 1,
        .order = POLICY_SEQUENTIAL,
        .seed = seed,
    };
    return check_kind(kind, why) ? policy_create(kind, values, &env, why) : NULL;
}

struct host_tier *host_tier_create(uint32_t ids, uint64_t capacity, const struct policy_kind *kind,
                                   const double *values, uint64_t seed, struct error *why)
{
    struct host_tier *host = array_zeroed(1, sizeof *host, why);
    if (host == NULL) {
        return NULL;
    }
    bool ok;
    if (kind != NULL) {
        ok = (host->policy = create_policy(ids, capacity, kind, values, seed, why)) != NULL;
    } else {
        host->room = capacity;
        ok = (host->held = array_zeroed(ids, sizeof *host->held, why)) != NULL;
    }
    if (!ok) {
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
    free(host->held);
    free(host);
}

bool host_tier_knows(const struct host_tier *host, uint32_t id)
{
    return host->policy != NULL ? host->policy->kind->holds(host->policy, id) : host->held[id];
}

static bool offer_forever(struct host_tier *host, uint32_t id)
{
    if (host->held[id] || host->room == 0) {
        return false;
    }
    host->held[id] = true;
    host->room--;
    return true;
}

bool host_tier_offer(struct host_tier *host, uint32_t id)
{
    static const uint8_t mass = 0;
    const struct demand demand = {.units = &id, .mass = &mass, .wanted = 1, .recorded = 1};
    struct outcome outcome;
    if (host->policy == NULL) {
        return offer_forever(host, id);
    }
    policy_access(host->policy, &demand, &outcome);
    return outcome.admitted > 0;
}

bool host_tier_check(const struct host_tier *host, struct error *why)
{
    return host->policy == NULL || policy_check(host->policy, why);
}
