#include "decode/replay/replay_kept.h"

#include "base/array.h"
#include "decode/replay/meter.h"
#include "decode/replay/ledger_bytes.h"
#include "decode/replay/replay_fields.h"
#include "trace/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef REPLAY_SOURCES
#error "the Makefile defines REPLAY_SOURCES, a hash of the sources that replay"
#endif

/* ---- keys ---- */

static void write_heads(const struct replay_plan *plan, FILE *out)
{
    for (size_t i = 0; i < (size_t)plan->layers * plan->kv_heads; i++) {
        fwrite(&plan->heads[i].importance, sizeof plan->heads[i].importance, 1, out);
        fputc(plan->heads[i].offloaded, out);
    }
}

static void replay_kept_write_policy(const struct replay_plan *plan, FILE *out)
{
    fprintf(out, "%s", plan->policy->name);
    fputc('\0', out);
    fwrite(&plan->policy->content, sizeof plan->policy->content, 1, out);
    fputc(plan->policy_values != NULL, out);
    if (plan->policy_values != NULL) {
        fwrite(plan->policy_values, sizeof *plan->policy_values, POLICY_MOST_PARAMS, out);
    }
}

static void write_plan(const struct replay_plan *plan, FILE *out)
{
    struct replay_fields fields = replay_fields(plan);
    fwrite(&fields, sizeof fields, 1, out);
    replay_kept_write_policy(plan, out);
    write_heads(plan, out);
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

/* The plans of a call whose ledgers are not kept. */
struct missing {
    struct replay_plan *plans; /* [count] */
    struct ledger *ledgers;    /* [count], the caller's while they are replayed */
    uint32_t *places;          /* [count] among all plans of the call */
    uint32_t count;
};

static void missing_release(struct missing *missing)
{
    free(missing->plans);
    free(missing->ledgers);
    free(missing->places);
}

static bool missing_init(struct missing *missing, uint32_t most, struct error *why)
{
    *missing = (struct missing){.plans = array_zeroed(most, sizeof *missing->plans, why)};
    return missing->plans != NULL &&
           (missing->ledgers = array_zeroed(most, sizeof *missing->ledgers, why)) != NULL &&
           (missing->places = array_zeroed(most, sizeof *missing->places, why)) != NULL;
}

/* Replay what is missing, and keep it. */
static bool replay_missing(const struct trace *trace, const struct missing *missing,
                           const struct replay_means *means, struct ledger *ledgers,
                           struct error *why)
{
    if (missing->count == 0) {
        return true;
    }
    bool good = replay_run_all(trace, missing->plans, missing->count, means, missing->ledgers, why);
    for (uint32_t i = 0; i < missing->count; i++) {
        ledgers[missing->places[i]] = missing->ledgers[i];
        if (good) {
            replay_kept_put(trace, &missing->plans[i], &missing->ledgers[i], means->cache);
        }
    }
    return good;
}

bool replay_run_kept(const struct trace *trace, const struct replay_plan *plans, uint32_t count,
                     const struct replay_means *means, struct ledger *ledgers, struct error *why)
{
    struct missing missing;
    if (means->cache == NULL) {
        return replay_run_all(trace, plans, count, means, ledgers, why);
    }
    bool good = missing_init(&missing, count, why);
    for (uint32_t i = 0; good && i < count; i++) {
        if (!replay_check(&plans[i], why)) {
            good = false;
        } else if (!get(trace, &plans[i], means->cache, &ledgers[i])) {
            ledger_release(&ledgers[i]);
            missing.places[missing.count] = i;
            missing.plans[missing.count++] = plans[i];
        }
    }
    if (good && missing.count == 0 && means->meter != NULL) {
        atomic_fetch_add(&means->meter->spared, replay_work(trace_header(trace), plans));
    }
    good = good && replay_missing(trace, &missing, means, ledgers, why);
    missing_release(&missing);
    return good;
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
