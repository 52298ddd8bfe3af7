/* Each row of policies[] against a twin that is as plain as its definition, on random demands.
 *
 * A twin keeps a list and searches it. What must hold for any policy is checked on the way: hits +
 * misses = wanted, footprint within capacity, and growing by admitted - evicted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/random.h"
#include "policy/policy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MOST = 64, HEADS_MOST = 4, DIM_MOST = 8, STEPS = 400 };

/* A list of blocks, newest first, and the queries that QSAC's twin remembers. */
struct twin {
    struct policy_env env;
    uint32_t list[2 * BLOCKS_MOST], count;
    int8_t label[HEADS_MOST][DIM_MOST];
    bool labelled;
    const double *values;
};

static bool list_has(const struct twin *twin, uint32_t block)
{
    for (uint32_t i = 0; i < twin->count; i++) {
        if (twin->list[i] == block) {
            return true;
        }
    }
    return false;
}

static void list_remove(struct twin *twin, uint32_t block)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < twin->count; i++) {
        if (twin->list[i] != block) {
            twin->list[kept++] = twin->list[i];
        }
    }
    twin->count = kept;
}

static void list_push(struct twin *twin, uint32_t block)
{
    memmove(twin->list + 1, twin->list, twin->count++ * sizeof *twin->list);
    twin->list[0] = block;
}

static void list_cut(struct twin *twin, uint32_t count)
{
    if (twin->count > count) {
        twin->count = count;
    }
}

static void twin_none(struct twin *twin, const struct demand *demand, struct outcome *outcome)
{
    (void)twin;
    outcome->missed = demand->wanted;
}

/* One block after the other. */
static void twin_sequential(struct twin *twin, const struct demand *demand, bool touches_hits,
                            struct outcome *outcome)
{
    for (uint32_t i = demand->wanted; i-- > 0;) {
        bool hit = list_has(twin, demand->units[i]);
        outcome->hit += hit;
        if (hit && !touches_hits) {
            continue;
        }
        list_remove(twin, demand->units[i]);
        list_push(twin, demand->units[i]);
        list_cut(twin, twin->env.capacity);
    }
}

/* All are looked up, then all that are to be touched go to the front, then the end is cut off. */
static void twin_batch(struct twin *twin, const struct demand *demand, bool touches_hits,
                       struct outcome *outcome)
{
    bool hit[BLOCKS_MOST];
    for (uint32_t i = 0; i < demand->wanted; i++) {
        outcome->hit += hit[i] = list_has(twin, demand->units[i]);
    }
    for (uint32_t i = demand->wanted; i-- > 0;) {
        if (hit[i] && !touches_hits) {
            continue;
        }
        list_remove(twin, demand->units[i]);
        list_push(twin, demand->units[i]);
    }
    list_cut(twin, twin->env.capacity);
}

static void twin_list(struct twin *twin, const struct demand *demand, bool touches_hits,
                      struct outcome *outcome)
{
    if (twin->env.order == POLICY_BATCH) {
        twin_batch(twin, demand, touches_hits, outcome);
    } else {
        twin_sequential(twin, demand, touches_hits, outcome);
    }
    outcome->missed = demand->wanted - outcome->hit;
}

static void twin_lru(struct twin *twin, const struct demand *demand, struct outcome *outcome)
{
    twin_list(twin, demand, true, outcome);
}

static void twin_fifo(struct twin *twin, const struct demand *demand, struct outcome *outcome)
{
    twin_list(twin, demand, false, outcome);
}

static const int8_t *twin_query(const struct demand *demand, uint32_t head)
{
    return demand->query + (size_t)head * demand->query_stride * demand->head_dim;
}

/* Cosine in real numbers, scales and all; a null vector is at right angles to any. */
static double twin_cosine(const struct twin *twin, const struct demand *demand, uint32_t head)
{
    double scale = (double)demand->scale[head * demand->query_stride];
    double product = 0, query = 0, label = 0;
    for (uint32_t i = 0; i < demand->head_dim; i++) {
        double q = scale * twin_query(demand, head)[i], l = twin->label[head][i];
        product += q * l;
        query += q * q;
        label += l * l;
    }
    return query > 0 && label > 0 ? product / (sqrt(query) * sqrt(label)) : 0;
}

static bool twin_reuses(const struct twin *twin, const struct demand *demand)
{
    double importance = 0, weights = 0, inverse = 0, least = 1, sum = 0;
    bool pole = false;
    for (uint32_t j = 0; j < twin->env.query_heads; j++) {
        importance += (double)twin->env.importance[j] / twin->env.query_heads;
    }
    if (importance == 0 && twin->values[2] == 1) {
        return true;
    }
    for (uint32_t j = 0; j < twin->env.query_heads; j++) {
        double s = importance > 0 ? (double)twin->env.importance[j] : 1;
        double cosine = twin_cosine(twin, demand, j);
        pole = pole || (s > 0 && cosine <= 0);
        weights += s;
        inverse += s / cosine;
        least = fmin(least, cosine);
        sum += cosine;
    }
    double share = pow(importance, twin->values[1]);
    double threshold =
        twin->values[2] > 0
            ? cos(share * acos(twin->values[0]) + (1 - share) * 3.14159265358979323846)
            : twin->values[0];
    if (twin->values[3] == 1) {
        return least >= threshold;
    }
    if (twin->values[3] == 2) {
        return sum / twin->env.query_heads >= threshold;
    }
    return !pole && weights / inverse >= threshold;
}

static void twin_qsac(struct twin *twin, const struct demand *demand, struct outcome *outcome)
{
    if (twin->labelled && twin_reuses(twin, demand)) {
        outcome->hit = demand->wanted;
        outcome->reused = true;
        return;
    }
    outcome->missed = demand->wanted;
    twin->count = 0;
    for (uint32_t i = 0; i < demand->wanted; i++) {
        list_push(twin, demand->units[i]);
    }
    for (uint32_t j = 0; j < demand->query_heads; j++) {
        memcpy(twin->label[j], twin_query(demand, j), demand->head_dim);
    }
    twin->labelled = true;
}

/* Mass of what is attended to: the wanted blocks, or the listed ones where the set was reused. */
static double twin_mass(const struct twin *twin, const struct demand *demand, bool reused)
{
    double sum = 0;
    for (uint32_t i = 0; i < demand->recorded; i++) {
        if (reused ? list_has(twin, demand->units[i]) : i < demand->wanted) {
            sum += (double)trace_mass[demand->mass[i]];
        }
    }
    return sum;
}

struct twin_kind {
    const char *policy;
    void (*access)(struct twin *twin, const struct demand *demand, struct outcome *outcome);
};

static const struct twin_kind twins[] = {
    {"none", twin_none}, {"lru", twin_lru}, {"fifo", twin_fifo}, {"qsac", twin_qsac}, {NULL, NULL},
};

static const struct twin_kind *twin_of(const char *policy)
{
    for (const struct twin_kind *twin = twins; twin->policy; twin++) {
        if (strcmp(twin->policy, policy) == 0) {
            return twin;
        }
    }
    fail_msg("policy '%s' has no twin", policy);
    return NULL;
}

/* A stream of demands in which some units and some of the query stay from step to step. */
struct stream {
    gsl_rng *random;
    uint32_t blocks, recorded;
    uint32_t units[BLOCKS_MOST];
    uint8_t mass[BLOCKS_MOST];
    int8_t query[HEADS_MOST][2][DIM_MOST]; /* two steps a head; the first is used */
    float scale[HEADS_MOST][2];
};

static uint32_t below(gsl_rng *random, uint32_t end)
{
    return (uint32_t)gsl_rng_uniform_int(random, end);
}

static void stream_start(struct stream *stream, uint64_t seed, uint32_t blocks)
{
    struct error why;
    *stream = (struct stream){.random = random_stream(seed, "test.policy", 0, &why)};
    assert_non_null(stream->random);
    stream->blocks = blocks;
    for (uint32_t i = 0; i < blocks; i++) {
        stream->units[i] = i;
    }
}

/* Move on by one step: a few units swap places (those within the demand change rank, others enter
 * and leave), queries turn a little or altogether. */
static struct demand stream_step(struct stream *stream, uint32_t wanted, uint32_t recorded,
                                 uint32_t query_heads, uint32_t head_dim)
{
    gsl_rng *random = stream->random;
    for (uint32_t swaps = below(random, stream->blocks); swaps > 0; swaps--) {
        uint32_t a = below(random, stream->blocks), b = below(random, stream->blocks);
        uint32_t unit = stream->units[a];
        stream->units[a] = stream->units[b];
        stream->units[b] = unit;
    }
    float wanted_mass = 0;
    for (uint32_t i = 0; i < recorded; i++) {
        stream->mass[i] = (uint8_t)below(random, 256);
        wanted_mass += i < wanted ? trace_mass[stream->mass[i]] : 0;
    }
    for (uint32_t j = 0; j < query_heads; j++) {
        stream->scale[j][0] = (float)(1 + below(random, 100)) / 100;
        bool turned = below(random, 4) == 0;
        for (uint32_t i = 0; i < head_dim; i++) {
            if (turned || below(random, 3) == 0) {
                stream->query[j][0][i] = (int8_t)((int)below(random, 200) - 60);
            }
        }
    }
    return (struct demand){.units = stream->units,
                           .mass = stream->mass,
                           .wanted = wanted,
                           .recorded = recorded,
                           .wanted_mass = wanted_mass,
                           .scale = stream->scale[0],
                           .query = stream->query[0][0],
                           .query_heads = query_heads,
                           .head_dim = DIM_MOST,
                           .query_stride = 2};
}

/* A random setting of a policy, its parameters anywhere in their ranges (whole ones whole). */
static struct policy_env random_env(gsl_rng *random, float *importance)
{
    uint32_t blocks = 1 + below(random, BLOCKS_MOST);
    for (uint32_t j = 0; j < HEADS_MOST; j++) {
        importance[j] = (float)below(random, 5) / 4;
    }
    return (struct policy_env){.blocks = blocks,
                               .capacity = below(random, blocks + 1),
                               .order = below(random, 2) ? POLICY_BATCH : POLICY_SEQUENTIAL,
                               .query_heads = 1 + below(random, HEADS_MOST),
                               .head_dim = DIM_MOST,
                               .importance = importance};
}

static void random_values(gsl_rng *random, const struct policy_kind *kind, double *values)
{
    const struct policy_param *param = kind->params;
    for (uint32_t i = 0; param && param[i].name; i++) {
        bool whole = param[i].value == floor(param[i].value);
        double share = gsl_rng_uniform(random), span = param[i].most - param[i].least;
        values[i] = param[i].least + (whole ? floor(share * (span + 1)) : share * span);
    }
}

static void compare_with_twin(const struct policy_kind *kind, uint64_t seed)
{
    struct error why;
    struct stream stream;
    stream_start(&stream, seed, BLOCKS_MOST);
    float importance[HEADS_MOST];
    double values[8] = {0};
    struct policy_env env = random_env(stream.random, importance);
    random_values(stream.random, kind, values);
    stream.blocks = env.blocks;
    for (uint32_t i = 0; i < env.blocks; i++) {
        stream.units[i] = i;
    }
    env.wanted = below(stream.random, (kind->needs_queries ? env.capacity : env.blocks) + 1);

    struct policy *policy = policy_create(kind, values, &env, &why);
    assert_non_null(policy);
    struct twin twin = {.env = env, .values = values};
    for (uint32_t step = 0; step < STEPS; step++) {
        uint32_t wanted = below(stream.random, env.wanted + 1);
        uint32_t recorded = wanted + below(stream.random, env.blocks - wanted + 1);
        struct demand demand =
            stream_step(&stream, wanted, recorded, env.query_heads, env.head_dim);
        struct outcome found, expected = {0};
        uint32_t before, now, most;
        policy_footprint(policy, &before, &most);
        policy_access(policy, &demand, &found);
        policy_footprint(policy, &now, &most);
        twin_of(kind->name)->access(&twin, &demand, &expected);
        double mass = twin_mass(&twin, &demand, expected.reused);
        if (found.hit != expected.hit || found.missed != expected.missed ||
            found.reused != expected.reused || now != twin.count ||
            fabs((double)found.mass - mass) > 1e-4) {
            fail_msg("%s, seed %u, step %u: hit %u missed %u held %u mass %g, twin %u %u %u %g",
                     kind->name, (unsigned)seed, step, found.hit, found.missed, now,
                     (double)found.mass, expected.hit, expected.missed, twin.count, mass);
        }
        if (found.hit + found.missed != wanted || most > env.capacity || now > most ||
            before + found.admitted - found.evicted != now) {
            fail_msg("%s, seed %u, step %u: hit %u + missed %u of %u; held %u + %u - %u = %u <= %u",
                     kind->name, (unsigned)seed, step, found.hit, found.missed, wanted, before,
                     found.admitted, found.evicted, now, env.capacity);
        }
    }
    policy_destroy(policy);
    gsl_rng_free(stream.random);
}

static void every_policy_equals_its_twin(void **state)
{
    (void)state;
    for (size_t row = 0; policies[row]; row++) {
        for (uint64_t seed = 1; seed <= 150; seed++) {
            compare_with_twin(policies[row], seed);
        }
    }
}

/* Hits of each step of one stream; the same stream for the same seed. */
static void hits_of(const char *name, enum policy_order order, uint32_t capacity, uint32_t wanted,
                    uint64_t seed, uint32_t *hits)
{
    struct error why;
    struct stream stream;
    stream_start(&stream, seed, BLOCKS_MOST);
    struct policy_env env = {
        .blocks = BLOCKS_MOST, .capacity = capacity, .wanted = wanted, .order = order};
    struct policy *policy = policy_create(policy_find(name, NULL, 0, &why), NULL, &env, &why);
    assert_non_null(policy);
    for (uint32_t step = 0; step < STEPS; step++) {
        struct demand demand = stream_step(&stream, wanted, wanted, 0, 0);
        struct outcome outcome;
        policy_access(policy, &demand, &outcome);
        hits[step] = outcome.hit;
    }
    policy_destroy(policy);
    gsl_rng_free(stream.random);
}

/* What makes its whole curve exact in one pass: a larger cache holds what a smaller one does. */
static void larger_lru_hits_no_less_at_any_step(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        uint32_t wanted = 1 + (uint32_t)seed, smaller[STEPS] = {0};
        for (uint32_t capacity = 0; capacity <= BLOCKS_MOST; capacity++) {
            uint32_t larger[STEPS];
            hits_of("lru", POLICY_BATCH, capacity, wanted, seed, larger);
            for (uint32_t step = 0; step < STEPS; step++) {
                if (larger[step] < smaller[step]) {
                    fail_msg("seed %u, step %u: %u blocks hit %u, one less %u", (unsigned)seed,
                             step, capacity, larger[step], smaller[step]);
                }
            }
            memcpy(smaller, larger, sizeof smaller);
        }
    }
}

/* At a cache of one demand, a third of which changes at each step: touched as a batch, what stayed
 * is found; one after the other, the misses that come first push out what is wanted next. */
static void order_alone_moves_lru_at_one_demand(void **state)
{
    (void)state;
    enum { WANTED = 30, SEED = 11 };
    struct error why;
    gsl_rng *random = random_stream(SEED, "test.policy", 0, &why);
    uint32_t units[10 * WANTED];
    const uint8_t mass[WANTED] = {0};
    for (uint32_t i = 0; i < 10 * WANTED; i++) {
        units[i] = i;
    }

    struct policy_env env = {.blocks = 10 * WANTED, .capacity = WANTED, .wanted = WANTED};
    struct policy *policy[2];
    uint32_t hit[2] = {0};
    for (uint32_t order = 0; order < 2; order++) {
        env.order = order ? POLICY_SEQUENTIAL : POLICY_BATCH;
        policy[order] = policy_create(policy_find("lru", NULL, 0, &why), NULL, &env, &why);
        assert_non_null(policy[order]);
    }
    for (uint32_t step = 0; step < 1000; step++) {
        for (uint32_t i = 0; i < WANTED + WANTED / 3; i++) {
            /* First a third are replaced, then each wanted block takes another's rank. */
            uint32_t a = i < WANTED / 3 ? i : i - WANTED / 3;
            uint32_t b =
                i < WANTED / 3 ? WANTED + below(random, 9 * WANTED) : below(random, WANTED);
            uint32_t unit = units[a];
            units[a] = units[b];
            units[b] = unit;
        }
        struct demand demand = {.units = units, .mass = mass, .wanted = WANTED, .recorded = WANTED};
        for (uint32_t order = 0; order < 2; order++) {
            struct outcome outcome;
            policy_access(policy[order], &demand, &outcome);
            hit[order] += outcome.hit;
        }
    }
    policy_destroy(policy[0]);
    policy_destroy(policy[1]);
    gsl_rng_free(random);
    print_message("seed %d: of 30000, batch hits %u, sequential %u\n", SEED, hit[0], hit[1]);
    assert_in_range(hit[0], 19000, 21000);
    assert_in_range(hit[1], 0, 14000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_policy_equals_its_twin),
        cmocka_unit_test(larger_lru_hits_no_less_at_any_step),
        cmocka_unit_test(order_alone_moves_lru_at_one_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
