/* The twins that kernels are held against: cases worked by hand, and what holds of any data. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/random.h"
#include "calibrate/kernels/twins.h"

#include <gsl/gsl_randist.h>
#include <math.h>
#include <string.h>

enum { DIM = 8, TOKENS = 40, SEED = 11 };

#define NEAR 1e-12

static gsl_rng *stream(uint64_t index)
{
    struct error why;
    gsl_rng *rng = random_stream(SEED, "test.twins", index, &why);
    assert_non_null(rng);
    return rng;
}

static void fill_bf16(gsl_rng *rng, uint16_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = bf16_of((float)gsl_ran_gaussian(rng, 1));
    }
}

static void fill(gsl_rng *rng, float *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)gsl_ran_gaussian(rng, 1);
    }
}

/* ---- attention ---- */

/* Products 0 and log(3), so weights of 1/4 and 3/4: (1 + 9) / 4 and (2 + 12) / 4. log(3) is no
 * bf16; it stands in the scale. */
static void attention_weighs_by_exponentials(void **state)
{
    (void)state;
    const uint16_t keys[] = {0, 0, 0x3f80, 0};
    const uint16_t values[] = {0x3f80, 0x4000, 0x4040, 0x4080}; /* 1 2, 3 4 */
    const struct twin_kv kv = {keys, values, KV_BF16, 2, 2, NULL, 2};
    const float query[] = {1, 5};
    double out[2], lse;
    twin_attend(&kv, query, log(3), out, &lse);
    assert_true(fabs(out[0] - 2.5) < NEAR && fabs(out[1] - 3.5) < NEAR);
    assert_true(fabs(lse - log(4)) < NEAR);
}

/* The same with strides of 3, through a list that turns the tokens round and counts one twice:
 * weights of 3/7, 3/7, 1/7. */
static void attention_follows_a_list(void **state)
{
    (void)state;
    const uint8_t keys[] = {0, 0, 99, 0x38, 0, 99};
    const uint8_t values[] = {0x38, 0x40, 99, 0x44, 0x48, 99};
    const uint32_t list[] = {1, 1, 0};
    const struct twin_kv kv = {keys, values, KV_FP8, 2, 3, list, 3};
    const float query[] = {1, 5};
    double out[2], lse;
    twin_attend(&kv, query, log(3), out, &lse);
    assert_true(fabs(out[0] - 19.0 / 7) < NEAR && fabs(out[1] - 26.0 / 7) < NEAR);
    assert_true(fabs(lse - log(7)) < NEAR);
}

static void attention_to_nothing_weighs_nothing(void **state)
{
    (void)state;
    const struct twin_kv kv = {NULL, NULL, KV_BF16, 2, 2, NULL, 0};
    double out[] = {1, 1}, lse;
    twin_attend(&kv, (const float[]){1, 1}, 1, out, &lse);
    assert_true(out[0] == 0 && out[1] == 0 && lse == -INFINITY);
}

/* Scores up to 10^5, whose exponentials no double holds. */
static void attention_stands_large_scores(void **state)
{
    (void)state;
    const uint16_t keys[] = {0xc2c8, 0x42c8}; /* -100, 100 */
    const uint16_t values[] = {0x3f80, 0x4000};
    const struct twin_kv kv = {keys, values, KV_BF16, 1, 1, NULL, 2};
    double out, lse;
    twin_attend(&kv, (const float[]){100}, 10, &out, &lse);
    assert_true(out == 2 && lse == 1e5);
}

static void parts_split_anywhere_merge_to_the_whole(void **state)
{
    (void)state;
    gsl_rng *rng = stream(0);
    uint16_t keys[TOKENS * DIM], values[TOKENS * DIM];
    float query[DIM];
    fill_bf16(rng, keys, TOKENS * DIM);
    fill_bf16(rng, values, TOKENS * DIM);
    fill(rng, query, DIM);
    struct twin_kv kv = {keys, values, KV_BF16, DIM, DIM, NULL, TOKENS};
    double whole[DIM], whole_lse;
    twin_attend(&kv, query, 3, whole, &whole_lse);

    uint32_t tokens[TOKENS];
    for (uint32_t t = 0; t < TOKENS; t++) {
        tokens[t] = t;
    }
    for (uint32_t first = 0; first <= TOKENS; first++) {
        for (uint32_t second = first; second <= TOKENS; second += 3) {
            const uint32_t ends[] = {0, first, second, TOKENS};
            double out[3][DIM], lse[3], merged[DIM], merged_lse;
            gsl_ran_shuffle(rng, tokens, TOKENS, sizeof tokens[0]);
            for (uint32_t part = 0; part < 3; part++) {
                kv.list = tokens + ends[part];
                kv.count = ends[part + 1] - ends[part];
                twin_attend(&kv, query, 3, out[part], &lse[part]);
            }
            twin_merge(out[0], lse, 3, DIM, merged, &merged_lse);
            assert_true(fabs(merged_lse - whole_lse) < NEAR);
            for (uint32_t i = 0; i < DIM; i++) {
                assert_true(fabs(merged[i] - whole[i]) < NEAR);
            }
        }
    }
    gsl_rng_free(rng);
}

static void nothing_merges_to_nothing(void **state)
{
    (void)state;
    const double out[] = {0, 0}, lse[] = {-INFINITY, -INFINITY};
    double merged = 1, merged_lse;
    twin_merge(out, lse, 2, 1, &merged, &merged_lse);
    assert_true(merged == 0 && merged_lse == -INFINITY);
}

/* ---- top-k ---- */

static void topk_takes_the_first_of_equals(void **state)
{
    (void)state;
    const float scores[] = {1, 3, -2, 3, 2, 3};
    const uint32_t expected[] = {1, 3, 5, 4};
    uint32_t chosen[4];
    struct error why;
    assert_true(twin_topk(scores, 6, 4, chosen, &why));
    assert_memory_equal(chosen, expected, sizeof expected);
}

/* No score left out is above one that is chosen, and none is chosen twice. */
static void topk_leaves_nothing_better(void **state)
{
    (void)state;
    gsl_rng *rng = stream(1);
    float scores[TOKENS];
    fill(rng, scores, TOKENS);
    for (uint32_t k = 0; k <= TOKENS; k++) {
        uint32_t chosen[TOKENS];
        bool taken[TOKENS] = {false};
        struct error why;
        assert_true(twin_topk(scores, TOKENS, k, chosen, &why));
        float least = INFINITY;
        for (uint32_t i = 0; i < k; i++) {
            assert_false(taken[chosen[i]]);
            assert_true(scores[chosen[i]] <= least);
            taken[chosen[i]] = true;
            least = scores[chosen[i]];
        }
        for (uint32_t i = 0; i < TOKENS; i++) {
            assert_true(taken[i] || scores[i] <= least);
        }
    }
    gsl_rng_free(rng);
}

/* ---- scores ---- */

/* Least -1 1, most 2 3: 2 * 2 + -3 * 1. */
static void a_page_is_scored_by_its_best_corner(void **state)
{
    (void)state;
    const uint16_t least[] = {0xbf80, 0x3f80}, most[] = {0x4000, 0x4040};
    assert_true(twin_page_score((const float[]){2, -3}, least, most, 2) == 1);
}

static void no_key_of_a_page_scores_above_it(void **state)
{
    (void)state;
    gsl_rng *rng = stream(2);
    uint16_t keys[TOKENS * DIM], least[DIM], most[DIM];
    float query[DIM];
    fill_bf16(rng, keys, TOKENS * DIM);
    fill(rng, query, DIM);
    for (uint32_t i = 0; i < DIM; i++) {
        float low = INFINITY, high = -INFINITY;
        for (uint32_t t = 0; t < TOKENS; t++) {
            low = fminf(low, bf16_value(keys[t * DIM + i]));
            high = fmaxf(high, bf16_value(keys[t * DIM + i]));
        }
        least[i] = bf16_of(low);
        most[i] = bf16_of(high);
    }
    double bound = twin_page_score(query, least, most, DIM);
    for (uint32_t t = 0; t < TOKENS; t++) {
        assert_true(twin_centroid_score(query, keys + (size_t)t * DIM, DIM) <= bound);
    }
    gsl_rng_free(rng);
}

/* The code of a key is a key: the score is that of the key put together. */
static void a_code_scores_as_what_it_stands_for(void **state)
{
    (void)state;
    enum { PARTS = 4, WIDTH = DIM / PARTS };
    gsl_rng *rng = stream(3);
    uint16_t codebook[PARTS * 256 * WIDTH], key[DIM];
    const uint8_t code[PARTS] = {0, 255, 17, 128};
    float query[DIM];
    fill_bf16(rng, codebook, PARTS * 256 * WIDTH);
    fill(rng, query, DIM);
    for (uint32_t p = 0; p < PARTS; p++) {
        memcpy(key + (size_t)p * WIDTH, codebook + ((size_t)p * 256 + code[p]) * WIDTH,
               WIDTH * sizeof key[0]);
    }
    double expected = twin_centroid_score(query, key, DIM);
    assert_true(fabs(twin_code_score(query, codebook, code, PARTS, DIM) - expected) < NEAR);
    gsl_rng_free(rng);
}

static void a_hash_scores_the_bits_in_common(void **state)
{
    (void)state;
    const uint32_t a[] = {0, 0xf0f0f0f0}, b[] = {1, 0xf0f0f0ff};
    assert_int_equal(twin_hash_score(a, b, 2), 31 + 28);
    assert_int_equal(twin_hash_score(a, a, 2), 64);
}

/* ---- similarity ---- */

/* Cosines of 1 and 0.6, weights of 1 and 3: 4 / (1 + 3 / 0.6). */
static void similarity_is_a_harmonic_mean(void **state)
{
    (void)state;
    const uint16_t queries[] = {0x3f80, 0, 0x3f80, 0};     /* 1 0, 1 0 */
    const uint16_t labels[] = {0x4000, 0, 0x4040, 0x4080}; /* 2 0, 3 4 */
    assert_true(fabs(twin_similarity(queries, labels, (const float[]){1, 3}, 2, 2) - 4.0 / 6) <
                NEAR);
    assert_true(fabs(twin_similarity(queries, labels, (const float[]){0, 3}, 2, 2) - 0.6) < NEAR);
}

static void a_query_across_its_label_is_unlike_it(void **state)
{
    (void)state;
    const uint16_t queries[] = {0x3f80, 0, 0x3f80, 0};
    const uint16_t across[] = {0x4000, 0, 0, 0x4080};
    const uint16_t null[] = {0x4000, 0, 0, 0};
    assert_true(twin_similarity(queries, across, (const float[]){1, 1}, 2, 2) == -INFINITY);
    assert_true(twin_similarity(queries, null, (const float[]){1, 1}, 2, 2) == -INFINITY);
    assert_true(twin_similarity(queries, across, (const float[]){1, 0}, 2, 2) == 1);
}

/* ---- norm and position ---- */

/* Squares of 9 and 16 and twice 0: a mean of 6.25. */
static void a_norm_divides_by_the_root_mean_square(void **state)
{
    (void)state;
    const uint16_t weight[] = {0x3f80, 0x4000, 0x3f80, 0x3f80};
    double out[4];
    twin_norm((const float[]){3, 4, 0, 0}, weight, 4, 0, out);
    assert_true(fabs(out[0] - 1.2) < NEAR && fabs(out[1] - 3.2) < NEAR && out[2] == 0);
    twin_norm((const float[]){0, 0, 0, 0}, weight, 4, 1e-5, out);
    assert_true(out[0] == 0);
}

/* Base 16 of 4 values: the pairs turn by the position and a quarter of it. */
static void a_position_turns_pairs_of_halves(void **state)
{
    (void)state;
    double out[4];
    twin_rope((const float[]){1, 0, 0, 2}, 4, 3, 16, out);
    assert_true(fabs(out[0] - cos(3)) < NEAR && fabs(out[2] - sin(3)) < NEAR);
    assert_true(fabs(out[1] + 2 * sin(0.75)) < NEAR && fabs(out[3] - 2 * cos(0.75)) < NEAR);
}

static void positions_keep_norms_and_products_of_equal_distance(void **state)
{
    (void)state;
    gsl_rng *rng = stream(4);
    float query[DIM], key[DIM];
    fill(rng, query, DIM);
    fill(rng, key, DIM);
    double before = 0, product[2] = {0, 0};
    for (uint32_t i = 0; i < DIM; i++) {
        before += (double)query[i] * (double)query[i];
    }
    const uint32_t shift[] = {0, 100000};
    for (uint32_t s = 0; s < 2; s++) {
        double turned_query[DIM], turned_key[DIM], after = 0;
        twin_rope(query, DIM, 17 + shift[s], 10000, turned_query);
        twin_rope(key, DIM, 5 + shift[s], 10000, turned_key);
        for (uint32_t i = 0; i < DIM; i++) {
            after += turned_query[i] * turned_query[i];
            product[s] += turned_query[i] * turned_key[i];
        }
        assert_true(fabs(after - before) < NEAR * before);
    }
    assert_true(fabs(product[0] - product[1]) < 1e-9);
    gsl_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attention_weighs_by_exponentials),
        cmocka_unit_test(attention_follows_a_list),
        cmocka_unit_test(attention_to_nothing_weighs_nothing),
        cmocka_unit_test(attention_stands_large_scores),
        cmocka_unit_test(parts_split_anywhere_merge_to_the_whole),
        cmocka_unit_test(nothing_merges_to_nothing),
        cmocka_unit_test(topk_takes_the_first_of_equals),
        cmocka_unit_test(topk_leaves_nothing_better),
        cmocka_unit_test(a_page_is_scored_by_its_best_corner),
        cmocka_unit_test(no_key_of_a_page_scores_above_it),
        cmocka_unit_test(a_code_scores_as_what_it_stands_for),
        cmocka_unit_test(a_hash_scores_the_bits_in_common),
        cmocka_unit_test(similarity_is_a_harmonic_mean),
        cmocka_unit_test(a_query_across_its_label_is_unlike_it),
        cmocka_unit_test(a_norm_divides_by_the_root_mean_square),
        cmocka_unit_test(a_position_turns_pairs_of_halves),
        cmocka_unit_test(positions_keep_norms_and_products_of_equal_distance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
