/* Attention of the CPU against its twin in double precision. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/random.h"
#include "calibrate/host/attention.h"
#include "calibrate/host/buffer.h"
#include "calibrate/kernels/twins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SEED = 5, TOKENS = 400, MOST_GROUP = 8, MOST_DIM = 256 };

/* KV of one head whose tokens lie `stride` values apart, keys and values of a token side by side,
 * and queries. Scores reach from about -20 to 20: some weights are all but nothing. */
struct problem {
    struct attention_shape shape;
    size_t stride;
    uint16_t *kv;
    uint32_t list[TOKENS];
    float queries[MOST_GROUP * MOST_DIM];
};

static void problem_init(struct problem *problem, uint32_t group, uint32_t dim)
{
    struct error why;
    gsl_rng *random = random_stream(SEED, "test.attention", dim * 100 + group, &why);
    assert_non_null(random);
    problem->shape = (struct attention_shape){group, dim};
    problem->stride = 2 * dim + 32;
    problem->kv = calloc(TOKENS * problem->stride, sizeof *problem->kv);
    assert_non_null(problem->kv);
    for (size_t i = 0; i < TOKENS * problem->stride; i++) {
        problem->kv[i] = bf16_of((float)(gsl_rng_uniform(random) * 4 - 2));
    }
    for (uint32_t i = 0; i < group * dim; i++) {
        problem->queries[i] = (float)(gsl_rng_uniform(random) * 10 - 5);
    }
    for (uint32_t i = 0; i < TOKENS; i++) {
        problem->list[i] = (uint32_t)gsl_rng_uniform_int(random, TOKENS);
    }
    gsl_rng_free(random);
}

/* Attention to `count` tokens of `list` (NULL: in order). */
static struct attention_head head_of(const struct problem *problem, const uint32_t *list,
                                     uint32_t count, float *out, float *lse)
{
    return (struct attention_head){
        .keys = problem->kv,
        .values = problem->kv + problem->shape.dim,
        .stride = problem->stride,
        .list = list,
        .count = count,
        .queries = problem->queries,
        .out = out,
        .lse = lse,
    };
}

/* Sums of fp32 against the twin's of double: outputs are weighted means of values up to 2. */
static void assert_is_attention(const struct problem *problem, const uint32_t *list, uint32_t count,
                                const float *out, const float *lse)
{
    uint32_t dim = problem->shape.dim;
    const struct twin_kv kv = {.keys = problem->kv,
                               .values = problem->kv + dim,
                               .type = KV_BF16,
                               .dim = dim,
                               .stride = problem->stride,
                               .list = list,
                               .count = count};
    for (uint32_t q = 0; q < problem->shape.group; q++) {
        double wanted[MOST_DIM], wanted_lse;
        twin_attend(&kv, problem->queries + q * dim, 1 / sqrt(dim), wanted, &wanted_lse);
        for (uint32_t i = 0; i < dim; i++) {
            assert_true(fabs(wanted[i] - (double)out[q * dim + i]) < 1e-5);
        }
        assert_true((count == 0 && lse[q] == -INFINITY) ||
                    fabs(wanted_lse - (double)lse[q]) < 1e-5 * fmax(1, fabs(wanted_lse)));
    }
}

static const uint32_t groups[] = {1, 2, 4, 5, 8}, dims[] = {32, 64, 128, 256};
static const uint32_t counts[] = {0, 1, 2, 31, 32, 33, 64, 97, TOKENS};
enum { GROUPS = 5, DIMS = 4, COUNTS = 9 };

static void attention_is_that_of_its_twin_on_every_path(void **state)
{
    (void)state;
    float out[MOST_GROUP * MOST_DIM], lse[MOST_GROUP];
    for (uint32_t at = 0; at < GROUPS * DIMS; at++) {
        struct problem problem;
        problem_init(&problem, groups[at % GROUPS], dims[at / GROUPS]);
        for (uint32_t run = 0; run < 2 * COUNTS * ATTENTION_PATHS; run++) {
            enum attention_path path = run % ATTENTION_PATHS;
            const uint32_t *list = run / ATTENTION_PATHS % 2 == 0 ? NULL : problem.list;
            uint32_t count = counts[run / ATTENTION_PATHS / 2];
            if (attention_has(path)) {
                struct attention_head head = head_of(&problem, list, count, out, lse);
                attention_attend(path, &problem.shape, &head);
                assert_is_attention(&problem, list, count, out, lse);
            }
        }
        free(problem.kv);
    }
}

static void the_best_path_is_one_there_is_and_every_machine_has_one(void **state)
{
    (void)state;
    assert_true(attention_has(ATTENTION_PORTABLE));
    assert_true(attention_has(attention_best()));
    assert_string_equal(attention_path_name(ATTENTION_PORTABLE), "portable");
}

static void heads_with_lists_of_any_length_each_have_their_own_answer(void **state)
{
    (void)state;
    struct error why;
    struct problem problem;
    problem_init(&problem, 4, 64);
    float out[COUNTS][4 * 64], lse[COUNTS][4];
    struct attention_head heads[COUNTS];
    for (uint32_t threads = 1; threads <= 3; threads++) {
        struct pool *pool = pool_create(threads, NULL, &why);
        assert_non_null(pool);
        for (uint32_t i = 0; i < COUNTS; i++) {
            heads[i] = head_of(&problem, problem.list, counts[i], out[i], lse[i]);
        }
        memset(out, 0xff, sizeof out);
        attention_run(pool, &problem.shape, heads, COUNTS);
        for (uint32_t i = 0; i < COUNTS; i++) {
            assert_is_attention(&problem, problem.list, counts[i], out[i], lse[i]);
        }
        pool_destroy(pool);
    }
    free(problem.kv);
}

/* Scores far beyond what exp() holds, descending: the first row outweighs all, by turns too. */
static void scores_out_of_range_of_exp_do_no_harm(void **state)
{
    (void)state;
    struct problem problem;
    problem_init(&problem, 4, 64);
    for (uint32_t i = 0; i < 4 * 64; i++) {
        problem.queries[i] *= 1000;
    }
    float out[4 * 64], lse[4];
    for (uint32_t path = 0; path < ATTENTION_PATHS; path++) {
        if (attention_has(path)) {
            struct attention_head head = head_of(&problem, NULL, TOKENS, out, lse);
            attention_attend(path, &problem.shape, &head);
            for (uint32_t q = 0; q < 4; q++) {
                assert_true(isfinite(lse[q]) && fabsf(lse[q]) > 1000);
            }
            for (uint32_t i = 0; i < 4 * 64; i++) {
                assert_true(isfinite(out[i]) && fabsf(out[i]) <= 2);
            }
        }
    }
    free(problem.kv);
}

/* The tokens in three parts, the second empty, merged from either end. */
static void parts_merge_into_the_whole_in_any_order(void **state)
{
    (void)state;
    static const uint32_t starts[] = {0, 150, 150, TOKENS};
    struct problem problem;
    problem_init(&problem, 5, 128);
    float out[3][5 * 128], lse[3][5], whole[5 * 128], whole_lse[5];
    for (int order = 0; order < 2; order++) {
        for (int part = 0; part < 3; part++) {
            struct attention_head head =
                head_of(&problem, problem.list + starts[part], starts[part + 1] - starts[part],
                        out[part], lse[part]);
            attention_attend(attention_best(), &problem.shape, &head);
        }
        memset(whole, 0, sizeof whole);
        for (int q = 0; q < 5; q++) {
            whole_lse[q] = -INFINITY;
        }
        for (int i = 0; i < 3; i++) {
            int part = order == 0 ? i : 2 - i;
            attention_merge(&problem.shape, out[part], lse[part], whole, whole_lse);
        }
        assert_is_attention(&problem, problem.list, TOKENS, whole, whole_lse);
    }
    free(problem.kv);
}

static void nothing_merged_with_nothing_is_nothing(void **state)
{
    (void)state;
    const struct attention_shape shape = {1, 32};
    float out[32] = {0}, lse[] = {-INFINITY}, whole[32] = {0}, whole_lse[] = {-INFINITY};
    attention_merge(&shape, out, lse, whole, whole_lse);
    assert_true(whole_lse[0] == -INFINITY);
    for (int i = 0; i < 32; i++) {
        assert_true(whole[i] == 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_is_that_of_its_twin_on_every_path),
        cmocka_unit_test(the_best_path_is_one_there_is_and_every_machine_has_one),
        cmocka_unit_test(heads_with_lists_of_any_length_each_have_their_own_answer),
        cmocka_unit_test(scores_out_of_range_of_exp_do_no_harm),
        cmocka_unit_test(parts_merge_into_the_whole_in_any_order),
        cmocka_unit_test(nothing_merged_with_nothing_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
