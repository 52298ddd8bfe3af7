#include "decode/replay/replay_kept.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#ifndef REPLAY_SOURCES
#error "the Makefile defines REPLAY_SOURCES, a hash of the sources that replay"
#endif

static_assert(sizeof(struct replay_plan) == 256, "every field is part of the hash");

/* The hash of all fields but heads and policy, given. The order is part of the hashes of stored runs. */
static uint64_t hash_common(const struct replay_plan *plan, uint64_t hash)
{
    size_t rows = ((size_t)plan->warmup + plan->steps + 1) * sizeof *plan->rows;
    const double shares[] = {plan->selection, plan->margin, plan->capacity, plan->manager_unit};
    const uint64_t numbers[] = {
        plan->layers,
        plan->kv_heads,
        plan->batch,
        plan->context,
        (uint64_t)plan->order,
        plan->sinks,
        plan->recent,
        plan->warmup,
        plan->steps,
        plan->whole_layers,
        plan->speculates,
        plan->recomputed,
        plan->seed,
        plan->cpu_threads,
        (uint64_t)plan->block_span,
        plan->block_candidates,
        plan->recent_scales,
        plan->starts_full,
        plan->asks_recorded,
        plan->before,
        plan->behind,
        plan->rows != NULL ? plan->queries : 1,
        plan->rejected_before,
        plan->rows != NULL ? XXH64(plan->rows, rows, 0) : 0,
    };
    hash = XXH64(shares, sizeof shares, hash + plan->decoded);
    for (uint32_t i = 0; i < REPLAY_ASKS; i++) {
        const double error[] = {plan->errors[i].page, plan->errors[i].noise,
                                plan->errors[i].lasting};
        hash = XXH64(error, sizeof error, hash);
    }
    return XXH64(numbers, sizeof numbers, hash);
}

static uint64_t hash_policy(const struct replay_plan *plan)
{
    uint64_t hash = XXH64(plan->policy->name, strlen(plan->policy->name), plan->policy->content);
    return plan->policy_values == NULL
               ? hash
               : XXH64(plan->policy_values, POLICY_MOST_PARAMS * sizeof *plan->policy_values, hash);
}

uint64_t replay_plan_hash(const struct replay_plan *plan)
{
    uint64_t hash = hash_common(plan, hash_policy(plan));
    for (uint32_t i = 0; i < plan->layers * plan->kv_heads; i++) {
        const uint64_t head[] = {plan->heads[i].offloaded,
                                 (uint64_t)llround(plan->heads[i].importance * 1e6)};
        hash = XXH64(head, sizeof head, hash);
        hash = XXH64(plan->heads[i].query_importance, plan->heads[i].queries * sizeof(float), hash);
    }
    return hash;
}

/* Caches of blocks have one policy. */
uint64_t replay_plan_family(const struct replay_plan *plan)
{
    struct replay_plan common = *plan;
    common.batch = common.before = common.behind = 0;
    common.cpu_threads = common.whole_layers = 0;
    common.capacity = 0;
    common.recomputed = 0;
    bool alone = plan->block_span != BLOCK_UNIT;
    const struct policy_kind *policy = plan->policy;
    const bool needs[] = {policy->needs_queries, policy->needs_next_use, policy->chooses_own,
                          policy->by_position};
    return hash_common(&common, alone ? hash_policy(plan) : XXH64(needs, sizeof needs, 0));
}

/* What a ledger is kept under: the sources that made it, the trace, and the plan. */
struct kept_key {
    char what[64];
    uint64_t trace, plan;
};

static bool kept_key_init(struct kept_key *key, const struct trace *trace,
                          const struct replay_plan *plan)
{
    *key = (struct kept_key){.what = "replay " REPLAY_SOURCES, .plan = replay_plan_hash(plan)};
    return trace_hash(trace, &key->trace, ERROR_UNSEEN);
}

static struct disk_cache_bytes kept_key_bytes(const struct kept_key *key)
{
    return (struct disk_cache_bytes){(const uint8_t *)key, sizeof *key};
}

static bool get_ledger(const struct trace *trace, const struct replay_plan *plan,
                       struct disk_cache *cache, struct ledger *ledger)
{
    struct kept_key key;
    size_t size;
    uint8_t *value = kept_key_init(&key, trace, plan)
                         ? disk_cache_get(cache, kept_key_bytes(&key), &size)
                         : NULL;
    bool good = value != NULL && ledger_unpack(value, size, plan->steps, plan->layers, ledger);
    free(value);
    return good;
}

bool replay_run_kept(const struct trace *trace, const struct replay_plan *plans, uint32_t count,
                     const struct replay_means *means, struct ledger *ledgers, struct error *why)
{
    bool kept = means->cache != NULL;
    for (uint32_t i = 0; kept && i < count; i++) {
        kept = get_ledger(trace, &plans[i], means->cache, &ledgers[i]);
    }
    if (kept && means->meter != NULL) {
        atomic_fetch_add(&means->meter->spared, replay_work(trace_header(trace), plans));
    }
    bool good = kept || replay_run_many(trace, plans, count, means, ledgers, why);
    for (uint32_t i = 0; good && !kept && means->cache != NULL && i < count; i++) {
        struct kept_key key;
        size_t size;
        uint8_t *value =
            kept_key_init(&key, trace, &plans[i]) ? ledger_pack(&ledgers[i], &size) : NULL;
        if (value != NULL) {
            disk_cache_put(means->cache, kept_key_bytes(&key),
                           (struct disk_cache_bytes){value, size});
        }
        free(value);
    }
    return good;
}
