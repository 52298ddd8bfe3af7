/* Each row of policies[] against a twin that is as plain as its definition, on random demands.
 *
 * The twins are in twin.h. What must hold for any policy is checked on the way: hits +
 * misses = wanted, footprint within capacity, and growing by admitted - evicted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/next_use.h"
#include "unit/policy/twin.h"
#include "unit/fixture/rounds.h"

#include <stdio.h>

enum { STEPS = 400 };

/* A stream of demands in which some units and some of the query stay from step to step. */
struct request_stream {
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

static void stream_start(struct request_stream *stream, uint64_t seed, uint32_t blocks)
{
    struct error why;
    *stream = (struct request_stream){.random = random_stream(seed, "test.policy", 0, &why)};
    assert_non_null(stream->random);
    stream->blocks = blocks;
    for (uint32_t i = 0; i < blocks; i++) {
        stream->units[i] = i;
    }
}

/* Move on by one step: a few units swap places (those within the demand change rank, others enter
 * and leave), queries turn a little or altogether. */
static struct demand stream_step(struct request_stream *stream, uint32_t wanted, uint32_t recorded,
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
                               .sinks = below(random, blocks / 4 + 1),
                               .recent = below(random, blocks / 4 + 1),
                               .warmup = below(random, 8),
                               .query_heads = 1 + below(random, HEADS_MOST),
                               .head_dim = DIM_MOST,
                               .importance = importance};
}

static void random_values(gsl_rng *random, const struct policy_kind *kind, double *values)
{
    const struct policy_param *param = kind->params;
    for (uint32_t i = 0; param && param[i].name; i++) {
        bool whole = param[i].value == floor(param[i].value) &&
                     param[i].least == floor(param[i].least) && param[i].least < param[i].most;
        double share = gsl_rng_uniform(random), span = fmin(param[i].most - param[i].least, 16);
        values[i] = param[i].least + (whole ? floor(share * (span + 1)) : share * span);
    }
}

/* One random setting and its demands, the same for the same seed. */
struct play {
    struct request_stream stream;
    struct policy_env env;
    float importance[HEADS_MOST + 1]; /* of the query heads, and of their KV head */
    double values[8];
};

static void play_start(struct play *play, const struct policy_kind *kind, uint64_t seed)
{
    *play = (struct play){.env = {.blocks = 0}};
    stream_start(&play->stream, seed, BLOCKS_MOST);
    play->env = random_env(play->stream.random, play->importance);
    play->env.seed = seed;
    play->importance[HEADS_MOST] = (float)(seed % 5) / 4;
    play->env.kv_importance = seed % 3 > 0 ? &play->importance[HEADS_MOST] : NULL;
    play->env.born = 0.4 * (double)(seed % 4);
    random_values(play->stream.random, kind, play->values);
    uint32_t outside = policy_outside(&play->env);
    play->stream.blocks = outside;
    for (uint32_t i = 0; i < outside; i++) {
        play->stream.units[i] = play->env.sinks + i;
    }
    uint32_t wanted_most =
        kind->needs_queries && play->env.capacity < outside ? play->env.capacity : outside;
    play->env.wanted = below(play->stream.random, wanted_most + 1);
}

static struct demand play_step(struct play *play)
{
    const struct policy_env *env = &play->env;
    uint32_t wanted = below(play->stream.random, env->wanted + 1);
    uint32_t recorded = wanted + below(play->stream.random, play->stream.blocks - wanted + 1);
    return stream_step(&play->stream, wanted, recorded, env->query_heads, env->head_dim);
}

/* Play once to know the future, then begin again. */
static void play_look_ahead(struct play *play, const struct policy_kind *kind, uint64_t seed,
                            struct next_use *future)
{
    struct error why;
    play_start(play, kind, seed);
    for (uint32_t step = 0; step < STEPS; step++) {
        struct demand demand = play_step(play);
        assert_true(next_use_add(future, &demand, &why));
    }
    gsl_rng_free(play->stream.random);
    assert_true(next_use_resolve(future, play->env.blocks, &why));
    play_start(play, kind, seed);
    play->env.next_use = future->access;
}

/* One step of both. */
static void compare_step(struct policy *policy, struct twin *twin, struct play *play,
                         const char *where)
{
    const struct policy_env *env = &play->env;
    struct demand demand = play_step(play);
    struct outcome found, expected = {0};
    uint32_t before = policy->held;
    policy_access(policy, &demand, &found);
    uint32_t now = policy->held;
    twin_access(twin, twin_find(policy->kind->name), &demand, &expected);
    uint32_t held = twin->held.count + twin->held_2.count;
    if (found.hit != expected.hit || found.missed != expected.missed ||
        found.for_cpu != expected.for_cpu || found.reused != expected.reused || now != held ||
        fabs((double)found.attended.mass - (double)expected.attended.mass) > 1e-4) {
        fail_msg("%s: hit %u missed %u for the CPU %u held %u mass %g, twin %u %u %u %u %g", where,
                 found.hit, found.missed, found.for_cpu, now, (double)found.attended.mass,
                 expected.hit, expected.missed, expected.for_cpu, held,
                 (double)expected.attended.mass);
    }
    for (uint32_t block = 0; policy->kind->holds && block < env->blocks; block++) {
        bool holds = list_has(&twin->held, block) || list_has(&twin->held_2, block);
        if (policy->kind->holds(policy, block) != holds) {
            fail_msg("%s: block %u is %sheld", where, block, holds ? "" : "not ");
        }
    }
    bool adds_up = policy->kind->chooses_own || found.hit + found.missed == demand.wanted;
    if (!adds_up || now > env->capacity || before + found.admitted - found.evicted != now) {
        fail_msg("%s: hit %u + missed %u of %u; held %u + %u - %u = %u <= %u", where, found.hit,
                 found.missed, demand.wanted, before, found.admitted, found.evicted, now,
                 env->capacity);
    }
}

static void compare_with_twin(const struct policy_kind *kind, uint64_t seed)
{
    struct error why;
    struct play play;
    struct next_use future = {.count = 0};
    play_look_ahead(&play, kind, seed, &future);
    struct policy *policy = policy_create(kind, play.values, &play.env, &why);
    assert_non_null(policy);
    struct twin twin = {.env = play.env, .values = play.values, .hand = NO_BLOCK};
    for (uint32_t step = 0; step < STEPS; step++) {
        char where[64];
        snprintf(where, sizeof where, "%s, seed %u, step %u", kind->name, (unsigned)seed, step);
        compare_step(policy, &twin, &play, where);
    }
    policy_destroy(policy);
    if (twin.random) {
        gsl_rng_free(twin.random);
    }
    gsl_rng_free(play.stream.random);
    next_use_release(&future);
}

static void every_policy_equals_its_twin(void **state)
{
    (void)state;
    for (size_t row = 0; policies[row]; row++) {
        if (!twin_find(policies[row]->name)) {
            fail_msg("policy '%s' has no twin", policies[row]->name);
        }
        for (uint64_t seed = 1; seed <= ROUNDS(80, 12); seed++) {
            compare_with_twin(policies[row], seed);
        }
    }
}

/* By the demands of a seed, with lots of another. */
static uint64_t misses_by_lot(const char *name, uint64_t seed, uint64_t lots,
                              enum policy_order order)
{
    struct error why;
    struct play play;
    struct next_use future = {.count = 0};
    const struct policy_kind *kind = policy_find(name, NULL, 0, &why);
    play_look_ahead(&play, kind, seed, &future);
    play.env.order = order;
    play.env.seed = lots;
    struct policy *policy = policy_create(kind, NULL, &play.env, &why);
    assert_non_null(policy);
    uint64_t misses = 0;
    for (uint32_t step = 0; step < STEPS; step++) {
        struct demand demand = play_step(&play);
        struct outcome outcome;
        policy_access(policy, &demand, &outcome);
        misses += outcome.missed;
    }
    policy_destroy(policy);
    gsl_rng_free(play.stream.random);
    next_use_release(&future);
    return misses;
}

static uint64_t misses_of(const char *name, uint64_t seed, enum policy_order order)
{
    return misses_by_lot(name, seed, seed, order);
}

static void lots_are_drawn_by_those_that_say_so(void **state)
{
    (void)state;
    for (size_t row = 0; policies[row]; row++) {
        uint32_t differ = 0;
        for (uint64_t seed = 1; seed <= 60; seed++) {
            differ += misses_by_lot(policies[row]->name, seed, 1, POLICY_BATCH) !=
                      misses_by_lot(policies[row]->name, seed, 2, POLICY_BATCH);
        }
        if ((differ > 0) != policies[row]->draws_lots) {
            fail_msg("%s: %u of 60 streams by lot", policies[row]->name, differ);
        }
    }
}

/* Those that fetch on demand, that is: not those that reuse or drop, or hold what they never
 * fetched. In a batch wider than the cache LRU may leave out what it fetched, as a bypass does; so
 * what must admit is the bound for one block after the other only. */
static void no_policy_beats_opt(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS(40, 8); seed++) {
        uint64_t forced = misses_of("opt", seed, POLICY_SEQUENTIAL);
        uint64_t bypass[] = {[POLICY_BATCH] = misses_of("opt:bypass", seed, POLICY_BATCH),
                             [POLICY_SEQUENTIAL] =
                                 misses_of("opt:bypass", seed, POLICY_SEQUENTIAL)};
        for (size_t row = 0; policies[row]; row++) {
            const char *name = policies[row]->name;
            if (policies[row]->needs_queries || policies[row]->chooses_own ||
                policies[row]->by_position) {
                continue;
            }
            uint64_t batch = misses_of(name, seed, POLICY_BATCH);
            uint64_t sequential = misses_of(name, seed, POLICY_SEQUENTIAL);
            bool bypasses = strcmp(name, "opt:bypass") == 0;
            if (batch < bypass[POLICY_BATCH] || sequential < bypass[POLICY_SEQUENTIAL] ||
                (sequential < forced && !bypasses)) {
                fail_msg("%s, seed %u: misses %u of a batch, %u one by one", name, (unsigned)seed,
                         (unsigned)batch, (unsigned)sequential);
            }
        }
    }
}

/* Hits of each step of one stream; the same stream for the same seed. */
static void hits_of(const char *name, enum policy_order order, uint32_t capacity, uint32_t wanted,
                    uint64_t seed, uint32_t *hits)
{
    struct error why;
    struct request_stream stream;
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
        cmocka_unit_test(lots_are_drawn_by_those_that_say_so),
        cmocka_unit_test(no_policy_beats_opt),
        cmocka_unit_test(larger_lru_hits_no_less_at_any_step),
        cmocka_unit_test(order_alone_moves_lru_at_one_demand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
