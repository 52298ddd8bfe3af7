#include "calibrate/host/policy_herd.h"

#include "core/array.h"
#include "core/random.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    WANTED_PART = 10,    /* a demand wants a tenth of the units */
    CAPACITY_WANTED = 3, /* a cache has room for three demands */
    ORDERS = 8,          /* shuffled lists; instances share them */
    PHASES = 40,         /* about the number of accesses between a policy's periodic clean-ups */
    EACH = 2 * PHASES,   /* instances that a thread serves in a sample */
    UNIT_STATE = 64,     /* upper bound for an instance's bytes for each of its units */
};

struct instance {
    struct policy *policy;
    const uint32_t *order; /* [2 * units] */
    uint32_t start;        /* where its last demand starts in `order` */
    uint32_t *found;       /* [2 * wanted] hits, then misses; owned */
};

/* ---- serving ---- */

static void policy_herd_look_up(const struct herd *herd, struct instance *instance)
{
    const struct policy *policy = instance->policy;
    const uint32_t *units = instance->order + instance->start;
    uint32_t *all_hits = instance->found, *all_misses = instance->found + herd->wanted;
    uint32_t hits = 0, misses = 0;
    for (uint32_t i = 0; i < herd->wanted; i++) {
        bool held = policy->kind->holds(policy, units[i]);
        all_hits[hits] = units[i];
        all_misses[misses] = units[i];
        hits += held;
        misses += !held;
    }
}

static void update(const struct herd *herd, struct instance *instance, uint32_t step)
{
    instance->start = (instance->start + step) % herd->units;
    const struct demand demand = {.units = instance->order + instance->start,
                                  .wanted = herd->wanted,
                                  .recorded = herd->wanted};
    struct outcome outcome;
    policy_access(instance->policy, &demand, &outcome);
}

static void policy_herd_serve(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    const struct herd_turn *turn = context;
    const struct herd *herd = turn->herd;
    struct instance *mine = herd->all + (size_t)job * herd->each;
    uint32_t step = (uint32_t)lround((1 - turn->hits) * herd->wanted);
    double start = clock_ns();
    for (uint32_t i = 0; i < herd->each; i++) {
        if (turn->looks_up) {
            policy_herd_look_up(herd, &mine[i]);
        } else {
            update(herd, &mine[i], step);
        }
    }
    herd->ns[job] = clock_ns() - start;
}

bool herd_sample(void *state, double *value, struct error *why)
{
    (void)why;
    struct herd_turn *turn = state;
    const struct bench *bench = turn->herd->bench;
    uint32_t threads = pool_threads(turn->pool);
    buffer_sum(&bench->data, 0, bench->data.size, bench->pools[bench->sizes - 1]);
    pool_run(turn->pool, threads, policy_herd_serve, turn);
    double sum = 0;
    for (uint32_t i = 0; i < threads; i++) {
        sum += turn->herd->ns[i];
    }
    *value = sum / threads / ((double)turn->herd->each * turn->herd->wanted);
    return true;
}

/* ---- the instances ---- */

/* Fill an instance, and leave instances in different phases of their periodic clean-ups. */
static void policy_herd_warm_up(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    const struct herd *herd = context;
    struct instance *instance = &herd->all[job];
    for (uint32_t filled = 0; filled <= herd->capacity; filled += herd->wanted) {
        update(herd, instance, herd->wanted);
    }
    for (uint32_t i = 0; i < job % PHASES; i++) {
        update(herd, instance, herd->wanted / 10);
    }
}

static bool shuffle_orders(struct herd *herd, uint64_t seed, struct error *why)
{
    size_t units = herd->units;
    herd->orders = array_zeroed(ORDERS * 2 * units, sizeof *herd->orders, why);
    gsl_rng *random = herd->orders ? random_stream(seed, "calibrate.policy", 0, why) : NULL;
    for (uint32_t i = 0; random != NULL && i < ORDERS; i++) {
        uint32_t *order = herd->orders + i * 2 * units;
        for (uint32_t u = 0; u < units; u++) {
            order[u] = u;
        }
        gsl_ran_shuffle(random, order, units, sizeof *order);
        memcpy(order + units, order, units * sizeof *order);
    }
    gsl_rng_free(random);
    return random != NULL;
}

static bool add_instance(struct herd *herd, const struct policy_kind *kind, struct error *why)
{
    const struct policy_env env = {.blocks = herd->units,
                                   .capacity = herd->capacity,
                                   .wanted = herd->wanted,
                                   .order = POLICY_BATCH,
                                   .seed = 1};
    struct instance *instance = &herd->all[herd->count];
    instance->order = herd->orders + herd->count % ORDERS * 2 * (size_t)herd->units;
    instance->found = array_zeroed(2 * (size_t)herd->wanted, sizeof *instance->found, why);
    instance->policy = instance->found != NULL ? policy_create(kind, NULL, &env, why) : NULL;
    herd->count++;
    return instance->policy != NULL;
}

bool herd_init(struct herd *herd, const struct policy_kind *kind, uint32_t units, uint32_t threads,
               struct bench *bench, uint64_t seed, struct error *why)
{
    uint32_t wanted = units / WANTED_PART;
    uint64_t fit = bench->topology.free / 4 / ((uint64_t)units * UNIT_STATE) / threads;
    *herd = (struct herd){.bench = bench,
                          .units = units,
                          .wanted = wanted,
                          .capacity = CAPACITY_WANTED * wanted,
                          .each = fit > EACH ? EACH
                                  : fit > 0  ? (uint32_t)fit
                                             : 1};
    uint32_t count = herd->each * threads;
    herd->all = array_zeroed(count, sizeof *herd->all, why);
    herd->ns = herd->all != NULL ? array_zeroed(threads, sizeof *herd->ns, why) : NULL;
    bool ok = herd->ns != NULL && shuffle_orders(herd, seed, why);
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = add_instance(herd, kind, why);
    }
    if (ok) {
        pool_run(bench->pools[bench->sizes - 1], count, policy_herd_warm_up, herd);
    }
    return ok;
}

void herd_release(struct herd *herd)
{
    for (uint32_t i = 0; i < herd->count; i++) {
        policy_destroy(herd->all[i].policy);
        free(herd->all[i].found);
    }
    free(herd->all);
    free(herd->orders);
    free(herd->ns);
    *herd = (struct herd){.bench = NULL};
}
