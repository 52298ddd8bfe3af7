/* Caches of several sizes answer as one cache of each size does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/policy.h"
#include "policy/sizes.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BLOCKS = 200, MOST_SIZES = 12, DEMANDS = 400 };

/* ---- worked by hand ---- */

/* Letters, best first; of caches of 0, 1, 2 and 4 blocks what hits and is promoted. */
static const struct {
    const char *demand;
    uint32_t hit[4], promoted[4];
} hand[] = {
    {"ABC", {0, 0, 0, 0}, {0, 0, 0, 0}}, /* touched C, B, A: the largest has all, the next A B */
    {"AD", {0, 1, 1, 1}, {0, 1, 1, 1}},  /* then A, D, B, C from the last on */
    {"DBA", {0, 1, 2, 3}, {0, 0, 1, 3}}, /* one of A, of which D alone is touched: none promoted */
    {"ECA", {0, 0, 0, 2}, {0, 0, 0, 2}}, /* D, B before it */
};

static void what_each_size_hits_is_as_worked_by_hand(void **state)
{
    (void)state;
    static const uint32_t capacities[] = {0, 1, 2, 4};
    struct error why;
    struct policy_env env = {.blocks = 5, .wanted = 5, .order = POLICY_BATCH};
    struct policy_sizes *lru = policy_sizes_create(&policy_lru, NULL, &env, capacities, 4, &why);
    assert_non_null(lru);
    for (size_t d = 0; d < sizeof hand / sizeof hand[0]; d++) {
        uint32_t units[5];
        struct demand demand = {.units = units, .wanted = (uint32_t)strlen(hand[d].demand)};
        for (uint32_t i = 0; i < demand.wanted; i++) {
            units[i] = (uint32_t)(hand[d].demand[i] - 'A');
        }
        struct outcome outcomes[4];
        policy_sizes_access(lru, &demand, outcomes);
        for (uint32_t i = 0; i < 4; i++) {
            assert_int_equal(outcomes[i].hit, hand[d].hit[i]);
            assert_int_equal(outcomes[i].missed, demand.wanted - hand[d].hit[i]);
            assert_int_equal(outcomes[i].updates, hand[d].promoted[i]);
        }
    }
    policy_sizes_destroy(lru);
}

/* ---- random ---- */

/* A demand of random blocks, near ones of the last demand more often. */
static uint32_t draw(gsl_rng *random, uint32_t blocks, uint32_t most, uint32_t *units)
{
    uint32_t order[MOST_BLOCKS], wanted = (uint32_t)gsl_rng_uniform_int(random, most + 1);
    uint32_t reach = 1 + (uint32_t)gsl_rng_uniform_int(random, blocks);
    reach = reach < wanted ? wanted : reach;
    for (uint32_t i = 0; i < blocks; i++) {
        order[i] = i;
    }
    gsl_ran_shuffle(random, order, reach, sizeof order[0]);
    memcpy(units, order, wanted * sizeof order[0]);
    return wanted;
}

static uint32_t draw_capacities(gsl_rng *random, uint32_t blocks, uint32_t *capacities)
{
    uint32_t count = 0;
    for (uint32_t size = 0; size <= blocks && count < MOST_SIZES; size++) {
        if (size == 0 || size == 1 || size == blocks || gsl_rng_uniform_int(random, 12) == 0) {
            capacities[count++] = size;
        }
    }
    return count;
}

static void assert_same(const struct outcome *one, const struct outcome *all, unsigned seed)
{
    if (memcmp(one, all, sizeof *one) != 0) {
        fail_msg("seed %u: hit %u %u, admitted %u %u, evicted %u %u, updates %u %u, inserts %u %u",
                 seed, one->hit, all->hit, one->admitted, all->admitted, one->evicted, all->evicted,
                 one->updates, all->updates, one->inserts, all->inserts);
    }
}

static void check_policy(const struct policy_kind *kind, enum policy_order order, unsigned seed)
{
    struct error why;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);
    gsl_rng_set(random, seed);
    uint32_t blocks = 2 + (uint32_t)gsl_rng_uniform_int(random, MOST_BLOCKS - 2);
    uint32_t most = 1 + (uint32_t)gsl_rng_uniform_int(random, blocks);
    uint32_t capacities[MOST_SIZES], count = draw_capacities(random, blocks, capacities);
    struct policy_env env = {.blocks = blocks, .wanted = most, .order = order, .seed = seed};
    struct policy_sizes *sizes = policy_sizes_create(kind, NULL, &env, capacities, count, &why);
    assert_non_null(sizes);
    struct policy *policies[MOST_SIZES];
    for (uint32_t i = 0; i < count; i++) {
        env.capacity = capacities[i];
        policies[i] = policy_create(kind, NULL, &env, &why);
        assert_non_null(policies[i]);
    }
    for (uint32_t d = 0; d < DEMANDS; d++) {
        uint32_t units[MOST_BLOCKS], wanted = draw(random, blocks, most, units);
        struct demand demand = {.units = units, .wanted = wanted, .wanted_mass = .5f};
        struct outcome one, all[MOST_SIZES];
        policy_sizes_access(sizes, &demand, all);
        for (uint32_t i = 0; i < count; i++) {
            policy_access(policies[i], &demand, &one);
            assert_same(&one, &all[i], seed);
            assert_int_equal(policy_sizes_held(sizes, i), policies[i]->held);
        }
    }
    assert_true(policy_sizes_check(sizes, &why));
    for (uint32_t i = 0; i < count; i++) {
        policy_destroy(policies[i]);
    }
    policy_sizes_destroy(sizes);
    gsl_rng_free(random);
}

static void every_size_answers_as_its_own_cache_does(void **state)
{
    (void)state;
    for (unsigned seed = 1; seed <= 60; seed++) {
        check_policy(&policy_lru, POLICY_BATCH, seed);
        check_policy(&policy_lru, POLICY_SEQUENTIAL, seed);
        check_policy(&policy_fifo, POLICY_BATCH, seed);
    }
}

/* QSAC with queries that turn now and then: sets are reused, and fetched again. */
static void draw_query(gsl_rng *random, int8_t query[4], bool anew)
{
    for (int i = 0; anew && i < 4; i++) {
        query[i] = (int8_t)(gsl_rng_uniform_int(random, 255) - 127);
    }
}

static void what_ignores_its_capacity_answers_alike_at_each(void **state)
{
    (void)state;
    static const uint32_t capacities[] = {20, 50, 100};
    struct policy_env env = {.blocks = 100, .wanted = 20, .query_heads = 1, .head_dim = 4};
    struct error why;
    gsl_rng *random = gsl_rng_alloc(gsl_rng_taus2);
    struct policy_sizes *sizes = policy_sizes_create(&policy_qsac, NULL, &env, capacities, 3, &why);
    env.capacity = capacities[2];
    struct policy *alone = policy_create(&policy_qsac, NULL, &env, &why);
    assert_true(sizes != NULL && alone != NULL);
    int8_t query[4] = {1, 2, 3, 4};
    float scale = 1;
    uint32_t units[MOST_BLOCKS], reused = 0;
    uint8_t mass[MOST_BLOCKS] = {0};
    for (uint32_t d = 0; d < DEMANDS; d++) {
        uint32_t wanted = draw(random, env.blocks, env.wanted, units);
        draw_query(random, query, d % 3 == 0);
        struct demand demand = {.units = units,
                                .mass = mass,
                                .wanted = wanted,
                                .recorded = wanted,
                                .query = query,
                                .scale = &scale,
                                .query_heads = 1,
                                .head_dim = 4};
        struct outcome one, all[3];
        policy_access(alone, &demand, &one);
        policy_sizes_access(sizes, &demand, all);
        for (uint32_t i = 0; i < 3; i++) {
            assert_same(&one, &all[i], 0);
            assert_int_equal(policy_sizes_held(sizes, i), alone->held);
        }
        reused += one.reused;
    }
    assert_in_range(reused, 1, DEMANDS - 1);
    policy_destroy(alone);
    policy_sizes_destroy(sizes);
    gsl_rng_free(random);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_each_size_hits_is_as_worked_by_hand),
        cmocka_unit_test(every_size_answers_as_its_own_cache_does),
        cmocka_unit_test(what_ignores_its_capacity_answers_alike_at_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
