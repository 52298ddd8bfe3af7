/* A plug-in's cache behind the interface of any other policy. Its answers are checked against an
 * account of what it holds.
 *
 * The account is a flag for each block, changed only by valid admissions and evictions. The first
 * invalid one, or a number of hits that disagrees with the account, breaks the instance: it is not
 * called again, and plugin_check() reports the reason.
 */
#include "policy/plugin.h"

#include <stdarg.h>
#include <stdio.h>

struct spillway_cache {
    struct policy base;
    const struct spillway_policy *api;
    const char *name;
    void *instance; /* NULL for a capacity of 0, which needs no plug-in */
    uint32_t blocks, query_heads;
    bool *held;            /* [blocks] */
    uint32_t *wanted_at;   /* [blocks] the last call that wanted the block ... */
    uint32_t *admitted_at; /* ... and the last one that admitted it */
    float *mass;           /* [blocks] scratch */
    uint32_t ask;          /* number of this call, from 1 */
    uint32_t admitted, evicted;
    bool broken;
    char broke[sizeof((struct error *)NULL)->found];
};

const size_t plugin_size = sizeof(struct spillway_cache);

static void break_promise(struct spillway_cache *cache, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void break_promise(struct spillway_cache *cache, const char *format, ...)
{
    if (!cache->broken) {
        va_list list;
        va_start(list, format);
        vsnprintf(cache->broke, sizeof cache->broke, format, list);
        va_end(list);
    }
    cache->broken = true;
}

static void plugin_policy_admit(struct spillway_cache *cache, uint32_t block)
{
    if (block >= cache->blocks) {
        break_promise(cache, "admits block %u, of %u", block, cache->blocks);
    } else if (cache->wanted_at[block] != cache->ask) {
        break_promise(cache, "admits block %u, which is not wanted", block);
    } else if (cache->held[block] || cache->admitted_at[block] == cache->ask) {
        break_promise(cache, "admits block %u, which it %s", block,
                      cache->held[block] ? "holds" : "admitted in this step before");
    } else {
        cache->held[block] = true;
        cache->admitted_at[block] = cache->ask;
        cache->admitted++;
        cache->base.held++;
    }
}

static void plugin_policy_evict(struct spillway_cache *cache, uint32_t block)
{
    if (block >= cache->blocks) {
        break_promise(cache, "evicts block %u, of %u", block, cache->blocks);
    } else if (!cache->held[block]) {
        break_promise(cache, "evicts block %u, which it does not hold", block);
    } else {
        cache->held[block] = false;
        cache->evicted++;
        cache->base.held--;
    }
}

/* Note the wanted blocks; returns how many of them are held. */
static uint32_t plugin_policy_look_up(struct spillway_cache *cache, const uint32_t *units,
                                      uint32_t wanted)
{
    uint32_t hit = 0;
    cache->ask++;
    for (uint32_t i = 0; i < wanted; i++) {
        cache->wanted_at[units[i]] = cache->ask;
        hit += cache->held[units[i]];
    }
    return hit;
}

static void check_answer(struct spillway_cache *cache, const struct spillway_answer *answer,
                         uint32_t wanted, uint32_t hit)
{
    uint64_t most = (uint64_t)cache->blocks + cache->query_heads;
    if (answer->reused > (cache->api->needs_queries != 0)) {
        break_promise(cache, "reuses what it holds without comparing queries");
    } else if (answer->reused && (cache->admitted > 0 || cache->evicted > 0)) {
        break_promise(cache, "reuses what it holds and changes it");
    } else if (answer->hit > wanted) {
        break_promise(cache, "answers %u hits where %u blocks are wanted", answer->hit, wanted);
    } else if (answer->hit != (answer->reused ? wanted : hit)) {
        break_promise(cache, "answers %u hits of %u wanted blocks and holds %u of them",
                      answer->hit, wanted, hit);
    } else if (cache->base.held > cache->base.capacity) {
        break_promise(cache, "holds %u blocks in a cache of %u", cache->base.held,
                      cache->base.capacity);
    } else if (answer->lookups > most || answer->updates > most) {
        break_promise(cache, "looks up %u and updates %u of %u blocks", answer->lookups,
                      answer->updates, cache->blocks);
    }
}

/* Call the plug-in for units[first, first + wanted) of a demand. For a whole demand it also sees
 * the other recorded units. */
static void plugin_policy_ask(struct spillway_cache *cache, const struct demand *demand,
                              uint32_t first, uint32_t wanted, struct outcome *outcome)
{
    bool whole = wanted == demand->wanted && demand->recorded > wanted;
    const struct spillway_demand demanded = {
        .blocks = demand->units + first,
        .mass = demand->recorded > 0 ? cache->mass + first : NULL,
        .wanted = wanted,
        .recorded = whole ? demand->recorded : wanted,
        .query = demand->query,
        .query_stride = (uint64_t)demand->query_stride * demand->head_dim,
    };
    struct spillway_answer answer = {
        .cache = cache, .admit = plugin_policy_admit, .evict = plugin_policy_evict};
    uint32_t hit = plugin_policy_look_up(cache, demand->units + first, wanted);
    cache->admitted = cache->evicted = 0;
    if (cache->instance != NULL && !cache->broken) {
        cache->api->access(cache->instance, &demanded, &answer);
        check_answer(cache, &answer, wanted, hit);
    }
    outcome->hit += cache->broken ? 0 : answer.hit;
    outcome->admitted += cache->admitted;
    outcome->evicted += cache->evicted;
    outcome->lookups += answer.lookups;
    outcome->updates += answer.updates;
    outcome->reused = answer.reused;
}

void plugin_access(struct policy *policy, const struct demand *demand, struct outcome *outcome)
{
    struct spillway_cache *cache = (struct spillway_cache *)policy;
    bool batch = policy->order == POLICY_BATCH || cache->api->needs_queries;
    uint32_t size = batch || demand->wanted == 0 ? demand->wanted : 1;
    for (uint32_t i = 0; i < demand->recorded; i++) {
        cache->mass[i] = trace_mass[demand->mass[i]];
    }
    uint32_t first = demand->wanted;
    do {
        first -= size;
        plugin_policy_ask(cache, demand, first, size, outcome);
    } while (first > 0);
    outcome->missed = demand->wanted - outcome->hit;
    outcome->inserts = outcome->admitted;
    outcome->attended =
        outcome->reused ? demand_set(demand, cache->held, cache->base.held) : demand_wanted(demand);
}

bool plugin_holds(const struct policy *policy, uint32_t block)
{
    return ((const struct spillway_cache *)policy)->held[block];
}

bool plugin_check(const struct policy *policy, struct error *why)
{
    const struct spillway_cache *cache = (const struct spillway_cache *)policy;
    if (!cache->broken) {
        return true;
    }
    error_set(why, NULL, 0, "policy '%s' %s", cache->name, cache->broke);
    return error_expect(why, "answers that agree with what it admitted and evicted");
}

void plugin_release(struct policy *policy)
{
    struct spillway_cache *cache = (struct spillway_cache *)policy;
    if (cache->instance != NULL) {
        cache->api->destroy(cache->instance);
    }
}

static bool create_instance(struct spillway_cache *cache, const double *values,
                            const struct policy_env *env, struct error *why)
{
    const struct spillway_env given = {
        .blocks = env->blocks,
        .capacity = env->capacity,
        .wanted = env->wanted,
        .query_heads = env->query_heads,
        .head_dim = env->head_dim,
        .importance = env->importance,
        .values = values,
        .seed = env->seed,
    };
    char reason[SPILLWAY_MOST_REASON] = "";
    if (env->capacity == 0) {
        return true;
    }
    cache->instance = cache->api->create(&given, reason);
    reason[sizeof reason - 1] = '\0';
    return cache->instance != NULL ||
           (error_set(why, NULL, 0, "policy '%s' cannot create a cache of %u blocks", cache->name,
                      env->capacity),
            error_expect(why, "%s", reason));
}

bool plugin_init(struct policy *policy, const double *values, const struct policy_env *env,
                 struct error *why)
{
    struct spillway_cache *cache = (struct spillway_cache *)policy;
    const struct plugin *plugin = (const struct plugin *)policy->kind;
    if (plugin->api->needs_queries && env->capacity < env->wanted) {
        error_set(why, NULL, 0, "policy '%s' has a cache of %u blocks, but a head wants %u",
                  plugin->name, env->capacity, env->wanted);
        return error_expect(why, "a budget of at least the selection ('1x')");
    }
    cache->api = plugin->api;
    cache->name = plugin->name;
    cache->blocks = env->blocks;
    cache->query_heads = env->query_heads;
    cache->held = arrays_add(&policy->arrays, env->blocks, sizeof *cache->held, why);
    cache->wanted_at = arrays_add(&policy->arrays, env->blocks, sizeof *cache->wanted_at, why);
    cache->admitted_at = arrays_add(&policy->arrays, env->blocks, sizeof *cache->admitted_at, why);
    cache->mass = arrays_add(&policy->arrays, env->blocks, sizeof *cache->mass, why);
    return !policy->arrays.failed && create_instance(cache, values, env, why);
}
