#include "decode/replay/replay_kept.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/array.h"
#include "decode/replay/ledger.h"
#include "trace/stats.h"

#ifndef REPLAY_SOURCES
#error "the Makefile defines REPLAY_SOURCES, a hash of the sources that replay"
#endif

/* ---- keys ---- */

static void write_plan(const struct replay_plan *plan, FILE *out)
{
    struct replay_fields fields = replay_fields(plan);
    fwrite(&fields, sizeof fields, 1, out);
    fprintf(out, "%s", plan->policy->name);
    fputc('\0', out);
    fwrite(&plan->policy->content, sizeof plan->policy->content, 1, out);
    fputc(plan->policy_values != NULL, out);
    if (plan->policy_values != NULL) {
        fwrite(plan->policy_values, sizeof *plan->policy_values, POLICY_MOST_PARAMS, out);
    }
    for (size_t i = 0; i < (size_t)plan->layers * plan->kv_heads; i++) {
        fwrite(&plan->heads[i].importance, sizeof plan->heads[i].importance, 1, out);
        fputc(plan->heads[i].offloaded, out);
    }
}

uint8_t *replay_key(const struct trace *trace, const struct replay_plan *plan, size_t *size,
                    struct error *why)
{
    static const char what[] = "replay " REPLAY_SOURCES;
    char *key = NULL;
    uint64_t hash;
    if (!trace_hash(trace, &hash, why)) {
        return NULL;
    }
    FILE *memory = open_memstream(&key, size);
    if (memory != NULL) {
        fwrite(what, sizeof what, 1, memory);
        fwrite(&hash, sizeof hash, 1, memory);
        write_plan(plan, memory);
    }
    if (memory == NULL || fclose(memory) != 0) {
        free(key);
        error_set(why, NULL, 0, "out of memory");
        return NULL;
    }
    return (uint8_t *)key;
}

/* ---- ledgers ---- */

static bool get(const struct trace *trace, const struct replay_plan *plan, struct disk_cache *cache,
                struct ledger *ledger)
{
    struct error unseen;
    size_t key_size, size;
    uint8_t *key = replay_key(trace, plan, &key_size, &unseen);
    uint8_t *value = NULL;
    bool good = false;
    if (key != NULL) {
        value = disk_cache_get(cache, (struct disk_cache_bytes){key, key_size}, &size);
        good = value != NULL && ledger_unpack(value, size, plan->steps, plan->layers, ledger);
    }
    free(value);
    free(key);
    return good;
}

static void replay_kept_put(const struct trace *trace, const struct replay_plan *plan,
                            const struct ledger *ledger, struct disk_cache *cache)
{
    struct error unseen;
    size_t key_size, size;
    uint8_t *key = replay_key(trace, plan, &key_size, &unseen);
    uint8_t *value = key != NULL ? ledger_pack(ledger, &size) : NULL;
    if (value != NULL) {
        disk_cache_put(cache, (struct disk_cache_bytes){key, key_size},
                       (struct disk_cache_bytes){value, size});
    }
    free(value);
    free(key);
}

/* The plans of a set whose ledgers are not kept. */
struct missing {
    const struct replay_set *set;
    struct replay_plan *plans; /* [count] */
    struct ledger *ledgers;    /* [count], the set's while they are replayed */
    uint32_t *places;          /* [count] among all plans of the set */
    uint32_t count;
};

static void missing_release(struct missing *missing)
{
    free(missing->plans);
    free(missing->ledgers);
    free(missing->places);
}

static bool missing_init(struct missing *missing, const struct replay_set *set, struct error *why)
{
    *missing = (struct missing){.set = set,
                                .plans = array_zeroed(set->count, sizeof *missing->plans, why)};
    return missing->plans != NULL &&
           (missing->ledgers = array_zeroed(set->count, sizeof *missing->ledgers, why)) != NULL &&
           (missing->places = array_zeroed(set->count, sizeof *missing->places, why)) != NULL;
}

/* Take what is kept, and list the rest. */
static bool missing_find(struct missing *missing, const struct replay_set *set,
                         const struct replay_means *means, struct error *why)
{
    bool good = missing_init(missing, set, why);
    for (uint32_t i = 0; good && i < set->count; i++) {
        if (!replay_check(&set->plans[i], why)) {
            good = false;
        } else if (!get(set->trace, &set->plans[i], means->cache, &set->ledgers[i])) {
            ledger_release(&set->ledgers[i]);
            missing->places[missing->count] = i;
            missing->plans[missing->count++] = set->plans[i];
        }
    }
    if (good && missing->count == 0 && means->meter != NULL) {
        atomic_fetch_add(&means->meter->spared, replay_work(trace_header(set->trace), set->plans));
    }
    return good;
}

/* Hand over what was replayed, and keep it. */
static void missing_give(const struct missing *missing, bool good, const struct replay_means *means)
{
    const struct replay_set *set = missing->set;
    for (uint32_t i = 0; i < missing->count; i++) {
        set->ledgers[missing->places[i]] = missing->ledgers[i];
        if (good) {
            replay_kept_put(set->trace, &missing->plans[i], &missing->ledgers[i], means->cache);
        }
    }
}

/* Replay what is missing of all sets. */
static bool replay_missing(const struct missing *missing, uint32_t count,
                           const struct replay_means *means, struct error *why)
{
    struct replay_set left[REPLAY_MOST_SETS];
    uint32_t sets = 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct missing *of = &missing[i];
        if (of->count > 0) {
            left[sets++] = (struct replay_set){of->set->trace, of->plans, of->count, of->ledgers};
        }
    }
    bool good = sets == 0 || replay_run_sets(left, sets, means, why);
    for (uint32_t i = 0; i < count; i++) {
        missing_give(&missing[i], good, means);
    }
    return good;
}

bool replay_run_sets_kept(const struct replay_set *sets, uint32_t count,
                          const struct replay_means *means, struct error *why)
{
    struct missing missing[REPLAY_MOST_SETS];
    uint32_t found = 0;
    bool good = true;
    if (means->cache == NULL) {
        return replay_run_sets(sets, count, means, why);
    }
    for (; good && found < count; found++) {
        good = missing_find(&missing[found], &sets[found], means, why);
    }
    good = good && replay_missing(missing, count, means, why);
    for (uint32_t i = 0; i < found; i++) {
        missing_release(&missing[i]);
    }
    return good;
}

bool replay_run_kept(const struct trace *trace, const struct replay_plan *plans, uint32_t count,
                     const struct replay_means *means, struct ledger *ledgers, struct error *why)
{
    const struct replay_set set = {trace, plans, count, ledgers};
    return replay_run_sets_kept(&set, 1, means, why);
}

/* ---- cosines ---- */

bool replay_cosines_kept(const struct trace *trace, const struct replay_means *means,
                         double *cosines, struct error *why)
{
    const struct trace_header *header = trace_header(trace);
    char key[sizeof "cosines " REPLAY_SOURCES + sizeof(uint64_t)] = "cosines " REPLAY_SOURCES;
    size_t bytes = (size_t)header->layers * header->kv_heads * sizeof *cosines, size = 0;
    const struct disk_cache_bytes of = {(const uint8_t *)key, sizeof key};
    uint64_t hash;
    if (!trace_hash(trace, &hash, why)) {
        return false;
    }
    memcpy(key + sizeof key - sizeof hash, &hash, sizeof hash);
    uint8_t *value = disk_cache_get(means->cache, of, &size);
    bool kept = value != NULL && size == bytes;
    if (kept) {
        memcpy(cosines, value, bytes);
    }
    free(value);
    if (!kept && !trace_head_cosine(trace, means->threads, cosines, why)) {
        return false;
    }
    if (!kept) {
        disk_cache_put(means->cache, of, (struct disk_cache_bytes){(uint8_t *)cosines, bytes});
    }
    return true;
}

static_assert(sizeof(struct replay_plan) == 248, "every field is part of the key");

static uint64_t replay_fields_rows(const struct replay_plan *plan)
{
    size_t steps = (size_t)plan->warmup + plan->steps + 1;
    return plan->rows == NULL ? 0 : XXH64(plan->rows, steps * sizeof *plan->rows, 0);
}

struct replay_fields replay_fields(const struct replay_plan *plan)
{
    struct replay_fields fields = {
        .shares = {plan->selection, plan->margin, plan->capacity, plan->manager_unit},
        .numbers =
            {
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
                replay_fields_rows(plan),
            },
    };
    for (uint32_t i = 0; i < REPLAY_ASKS; i++) {
        const struct retrieval_error *error = &plan->errors[i];
        fields.errors[i][0] = error->page;
        fields.errors[i][1] = error->noise;
        fields.errors[i][2] = error->lasting;
    }
    return fields;
}
