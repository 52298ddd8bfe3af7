/* What the manager of a cache costs the CPU: the simulator's own policies, cold.
 *
 * Each of many instances is the cache of one head over 8192 units, the clusters of 16 tokens of a
 * context of 128K, with room for three times the tenth that a demand asks for (RetroInfer's sizes).
 * Before each sample the caches of all CPUs are filled with something else, as they are when the
 * other heads and layers were served and their KV was gathered meanwhile.
 *
 * A manager that fetches what is missed has two passes over a demand, and so has this group:
 *
 *   lookup   holds() of every wanted unit; hits and misses are listed apart
 *   update   the policy's access, as in a replay: every hit touched, every miss admitted; that
 *            looks up once more, for policies do both at once
 *
 * Demands slide over a shuffled list of all units, by as many as are to miss:
 *
 *     list        7 2 9 4 1 8 3 6 5 ...       share that hits: 1 - step / wanted
 *     demand n   [  wanted    ]
 *     demand n+1   [  wanted    ]             what enters was wanted a whole turn ago
 *
 * host.lookup and host.update are those of LRU at 90 % hits. Policies that hold no units that come
 * and go one by one, or need queries or the future, have no such cost.
 */
#include "base/array.h"
#include "base/random.h"
#include "calibrate/host_bench.h"
#include "calibrate/host_groups.h"
#include "policy/policy.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNITS = 8192,
    WANTED = 819,
    CAPACITY = 3 * WANTED,
    ORDERS = 8,             /* shuffled lists; instances share them */
    PHASES = 40,            /* accesses between two clean-ups of a policy that has any, about */
    EACH = 2 * PHASES,      /* instances that a thread serves in a sample */
    MOST_STATE = 512 << 10, /* bytes of an instance, generously */
    CHILL_CACHES = 2,       /* times their size is read to leave nothing else in caches */
};

#define HITS 0.9 /* about what systems whose caches the CPU manages publish */

static const double hit_shares[] = {0, 0.5, HITS, 1};
enum { HIT_SHARES = sizeof hit_shares / sizeof hit_shares[0] };

struct instance {
    struct policy *policy;
    const uint32_t *order; /* [2 * UNITS]: a list twice, so that no demand wraps */
    uint32_t start;        /* of its last demand */
    uint32_t hits[WANTED], misses[WANTED];
};

/* The instances of one policy: `each` for every thread. */
struct herd {
    struct bench *bench;
    struct instance *all;
    uint32_t count, each;
};

/* A probe. */
struct turn {
    struct herd *herd;
    struct pool *pool;
    bool looks_up; /* else updates */
    uint32_t step; /* units by which demands move on */
    double *ns;    /* [threads] of each, in a sample; owned */
};

/* ---- serving ---- */

static void look_up(struct instance *instance)
{
    const struct policy *policy = instance->policy;
    const uint32_t *units = instance->order + instance->start;
    uint32_t hits = 0, misses = 0;
    for (uint32_t i = 0; i < WANTED; i++) {
        bool held = policy->kind->holds(policy, units[i]);
        instance->hits[hits] = units[i];
        instance->misses[misses] = units[i];
        hits += held;
        misses += !held;
    }
}

static void update(struct instance *instance, uint32_t step)
{
    instance->start = (instance->start + step) % UNITS;
    const struct demand demand = {
        .units = instance->order + instance->start, .wanted = WANTED, .recorded = WANTED};
    struct outcome outcome;
    policy_access(instance->policy, &demand, &outcome);
}

static void serve(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    const struct turn *turn = context;
    struct instance *mine = turn->herd->all + (size_t)job * turn->herd->each;
    double start = clock_ns();
    for (uint32_t i = 0; i < turn->herd->each; i++) {
        if (turn->looks_up) {
            look_up(&mine[i]);
        } else {
            update(&mine[i], turn->step);
        }
    }
    turn->ns[job] = clock_ns() - start;
}

/* All threads at once, each with its own instances: the mean of what a unit took them. */
static bool sample_turn(void *state, double *value, struct error *why)
{
    (void)why;
    struct turn *turn = state;
    struct bench *bench = turn->herd->bench;
    uint32_t threads = pool_threads(turn->pool);
    buffer_sum(&bench->data, 0, bench->data.size, bench->pools[bench->sizes - 1]);
    pool_run(turn->pool, threads, serve, turn);
    double sum = 0;
    for (uint32_t i = 0; i < threads; i++) {
        sum += turn->ns[i];
    }
    *value = sum / threads / ((double)turn->herd->each * WANTED);
    return true;
}

/* ---- the instances ---- */

/* Full, and in different phases of what a policy does now and then. */
static void warm_up(uint32_t job, uint32_t thread, void *context)
{
    (void)thread;
    struct instance *instance = &((struct herd *)context)->all[job];
    for (uint32_t filled = 0; filled <= CAPACITY; filled += WANTED) {
        update(instance, WANTED);
    }
    for (uint32_t i = 0; i < job % PHASES; i++) {
        update(instance, WANTED / 10);
    }
}

static void herd_release(struct herd *herd)
{
    for (uint32_t i = 0; i < herd->count; i++) {
        policy_destroy(herd->all[i].policy);
    }
    free(herd->all);
}

static bool herd_init(struct herd *herd, const struct policy_kind *kind, struct bench *bench,
                      uint32_t (*orders)[2 * UNITS], struct error *why)
{
    uint32_t threads = bench->topology.count;
    uint64_t fit = bench->topology.free / 4 / MOST_STATE / threads;
    *herd = (struct herd){.bench = bench, .each = fit > EACH ? EACH : fit > 0 ? (uint32_t)fit : 1};
    const struct policy_env env = {
        .blocks = UNITS, .capacity = CAPACITY, .wanted = WANTED, .order = POLICY_BATCH, .seed = 1};
    herd->all = array_zeroed((size_t)herd->each * threads, sizeof *herd->all, why);
    bool ok = herd->all != NULL;
    for (uint32_t i = 0; ok && i < herd->each * threads; i++) {
        herd->all[i].order = orders[i % ORDERS];
        herd->all[i].policy = policy_create(kind, NULL, &env, why);
        ok = herd->all[i].policy != NULL;
        herd->count += ok;
    }
    if (!ok) {
        herd_release(herd);
        return false;
    }
    pool_run(bench->pools[bench->sizes - 1], herd->count, warm_up, herd);
    return true;
}

/* ---- the figures of a policy ---- */

struct figures {
    char lookup[64], update[64], by_hits[64];
    struct herd herd;
    struct turn turns[2 * TOPOLOGY_MOST_COUNTS + HIT_SHARES];
};

static uint32_t step_of(double hits)
{
    return (uint32_t)lround((1 - hits) * WANTED);
}

static bool name_figures(struct figures *figures, const struct policy_kind *kind,
                         struct findings *findings, struct error *why)
{
    char *const names[] = {figures->lookup, figures->update, figures->by_hits};
    static const char *const ends[] = {"lookup", "update", "update_by_hits"};
    static const char *const axes[] = {"threads", "threads", "hits"};
    static const char *const notes[] = {"a unit looked up",
                                        "a unit touched or admitted, 90 % of them hits",
                                        "a unit touched or admitted, one thread, by share of hits"};
    bool ok = true;
    for (uint32_t i = 0; ok && i < 3; i++) {
        snprintf(names[i], sizeof figures->lookup, "policy.%s.%s", kind->name, ends[i]);
        ok = findings_add(findings, names[i], axes[i], UNIT_NS, why) != NULL &&
             bench_note(findings, names[i], why, "%s; cold caches of %d of %d units, %d wanted",
                        notes[i], CAPACITY, UNITS, WANTED);
    }
    return ok;
}

static bool add_turn(struct figures *figures, const char *figure, double size, uint32_t pool,
                     bool looks_up, double hits, struct error *why)
{
    struct bench *bench = figures->herd.bench;
    struct turn *turn = &figures->turns[bench->count];
    *turn = (struct turn){.herd = &figures->herd,
                          .pool = bench->pools[pool],
                          .looks_up = looks_up,
                          .step = step_of(hits),
                          .ns = array_zeroed(bench->threads[pool], sizeof(double), why)};
    return turn->ns != NULL && bench_add(bench, figure, size, sample_turn, turn, why);
}

static bool add_turns(struct figures *figures, struct error *why)
{
    const struct bench *bench = figures->herd.bench;
    bool ok = true;
    for (uint32_t i = 0; ok && i < bench->sizes; i++) {
        ok = add_turn(figures, figures->lookup, bench->threads[i], i, true, HITS, why) &&
             add_turn(figures, figures->update, bench->threads[i], i, false, HITS, why);
    }
    for (uint32_t i = 0; ok && i < HIT_SHARES; i++) {
        ok = add_turn(figures, figures->by_hits, hit_shares[i], 0, false, hit_shares[i], why);
    }
    return ok;
}

/* The simulator charges all policies what LRU costs one thread. */
static bool put_curve(const char *curve, const char *figure, struct findings *findings,
                      struct error *why)
{
    const struct finding *from = findings_get(findings, figure);
    struct found_point point = from->points[0];
    char note[sizeof from->note];
    memcpy(note, from->note, sizeof note);
    point.size = 0;
    return bench_put(findings, curve, &point, why) &&
           bench_note(findings, curve, why, "LRU; %s", note);
}

static bool measure_policy(const struct policy_kind *kind, struct bench *bench,
                           uint32_t (*orders)[2 * UNITS], const struct effort *effort,
                           uint64_t seed, struct findings *findings, struct error *why)
{
    struct figures *figures = array_zeroed(1, sizeof *figures, why);
    bench->count = 0;
    if (figures == NULL || !herd_init(&figures->herd, kind, bench, orders, why)) {
        free(figures);
        return false;
    }
    bool ok = name_figures(figures, kind, findings, why) && add_turns(figures, why) &&
              bench_measure(bench, effort, seed, findings, why);
    if (ok && strcmp(kind->name, "lru") == 0) {
        ok = put_curve("host.lookup", figures->lookup, findings, why) &&
             put_curve("host.update", figures->update, findings, why);
    }
    for (size_t i = 0; i < sizeof figures->turns / sizeof figures->turns[0]; i++) {
        free(figures->turns[i].ns);
    }
    herd_release(&figures->herd);
    free(figures);
    return ok;
}

/* ---- the group ---- */

static bool has_units(const struct policy_kind *kind)
{
    return kind->holds != NULL && !kind->by_position && !kind->needs_queries;
}

static bool shuffle_orders(uint32_t (*orders)[2 * UNITS], uint64_t seed, struct error *why)
{
    gsl_rng *random = random_stream(seed, "calibrate.policy", 0, why);
    for (uint32_t i = 0; random != NULL && i < ORDERS; i++) {
        for (uint32_t u = 0; u < UNITS; u++) {
            orders[i][u] = u;
        }
        gsl_ran_shuffle(random, orders[i], UNITS, sizeof(uint32_t));
        memcpy(orders[i] + UNITS, orders[i], UNITS * sizeof(uint32_t));
    }
    gsl_rng_free(random);
    return random != NULL;
}

bool host_policy_run(const struct effort *effort, uint64_t seed, struct findings *findings,
                     struct error *why)
{
    struct bench bench;
    uint32_t(*orders)[2 * UNITS] = array_zeroed(ORDERS, sizeof *orders, why);
    if (orders == NULL || !bench_init(&bench, CHILL_CACHES, seed, why)) {
        free(orders);
        return false;
    }
    uint32_t kinds = 0;
    for (uint32_t i = 0; policies[i] != NULL; i++) {
        kinds += has_units(policies[i]);
    }
    struct effort each = *effort;
    each.seconds = effort->seconds / kinds;
    bool ok = shuffle_orders(orders, seed, why);
    for (uint32_t i = 0; ok && policies[i] != NULL; i++) {
        ok = !has_units(policies[i]) ||
             measure_policy(policies[i], &bench, orders, &each, seed, findings, why);
    }
    bench_release(&bench);
    free(orders);
    return ok;
}
