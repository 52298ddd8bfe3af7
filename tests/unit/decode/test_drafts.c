/* Distributions of accepted drafts, worked by hand; draws; files of lengths; published lengths; the
 * networks that draft. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/array.h"
#include "core/node.h"
#include "decode/draft/drafts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- distributions ---------------------------------------------------------------------- */

static void assert_close(double found, double expected)
{
    if (fabs(found - expected) > 1e-9) {
        fail_msg("%.12g, expected %.12g", found, expected);
    }
}

static void rate_gives_geometric_lengths(void **state)
{
    (void)state;
    struct drafts drafts = {.count = 0};
    drafts_set_rate(&drafts, 3, 0.5);
    const double expected[] = {0.5, 0.25, 0.125, 0.125};
    for (int i = 0; i <= 3; i++) {
        assert_close(drafts.accepted[i], expected[i]);
    }
    assert_close(drafts_tokens(&drafts), 1 + 0.5 + 0.25 + 0.125);
}

static void positions_are_shares_of_all_steps(void **state)
{
    (void)state;
    struct drafts drafts = {.count = 0};
    const double shares[] = {0.8, 0.5, 0.1};
    drafts_set_positions(&drafts, 3, shares);
    const double expected[] = {0.2, 0.3, 0.4, 0.1};
    for (int i = 0; i <= 3; i++) {
        assert_close(drafts.accepted[i], expected[i]);
    }
    assert_close(drafts_tokens(&drafts), 2.4);
}

static void no_drafts_yield_one_token(void **state)
{
    (void)state;
    const struct drafts drafts = {.count = 0};
    assert_close(drafts_tokens(&drafts), 1);
    assert_int_equal(drafts_accepted(&drafts, 1, 7), 0);
}

static void all_or_no_drafts_are_accepted_at_the_ends(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= DRAFTS_MOST; count++) {
        struct drafts none = {.count = 0}, all = {.count = 0};
        drafts_set_rate(&none, count, 0);
        drafts_set_rate(&all, count, 1);
        assert_close(drafts_tokens(&none), 1);
        assert_close(drafts_tokens(&all), count + 1);
        for (uint64_t step = 0; step < 100; step++) {
            assert_int_equal(drafts_accepted(&none, 3, step), 0);
            assert_int_equal(drafts_accepted(&all, 3, step), count);
        }
    }
}

static void rate_of_length_is_its_inverse(void **state)
{
    (void)state;
    for (double rate = 0.1; rate < 1; rate += 0.2) {
        struct drafts drafts = {.count = 0};
        drafts_set_rate(&drafts, 5, rate);
        assert_close(drafts_rate_of(5, drafts_tokens(&drafts)), rate);
    }
    assert_close(drafts_rate_of(4, 1), 0);
    assert_close(drafts_rate_of(4, 5), 1);
}

/* The mean of many draws is the expected one, and a better rate accepts no fewer at any step. */
static void draws_follow_the_distribution(void **state)
{
    (void)state;
    enum { STEPS = 20000 };
    struct drafts worse = {.count = 0}, better = {.count = 0};
    drafts_set_rate(&worse, 4, 0.6);
    drafts_set_rate(&better, 4, 0.7);
    double sum = 0;
    for (uint64_t step = 0; step < STEPS; step++) {
        uint32_t accepted = drafts_accepted(&worse, 11, step);
        assert_true(drafts_accepted(&better, 11, step) >= accepted);
        sum += accepted + 1;
    }
    assert_true(fabs(sum / STEPS - drafts_tokens(&worse)) < 0.03);
    assert_int_equal(drafts_accepted(&worse, 11, 5), drafts_accepted(&worse, 11, 5));
}

/* ---- published -------------------------------------------------------------------------- */

static void published_lengths_are_kept(void **state)
{
    (void)state;
    struct drafts drafts = {.method = DRAFT_EAGLE3};
    struct error why;
    assert_true(draft_lengths_published("llama-3.1-8b-fp8", "MT-Bench", 4, NULL, 0, &drafts, &why));
    assert_close(drafts_tokens(&drafts), 3.08);
    assert_non_null(strstr(drafts.source, "vllm/issues/20780"));
    assert_true(draft_lengths_published("llama-3.1-8b", "mt-bench", 1, NULL, 0, &drafts, &why));
    assert_true(drafts_tokens(&drafts) > 1.7 && drafts_tokens(&drafts) < 1.8);
    assert_false(draft_lengths_published("llama-3.1-8b", "mt-bench", 8, NULL, 0, &drafts, &why));
    assert_non_null(strstr(why.expected, "at most 7"));
    assert_false(draft_lengths_published("llama-3.1-80b", "mt-bench", 2, NULL, 0, &drafts, &why));
    assert_false(draft_lengths_published("llama-3.1-8b", "chess", 2, NULL, 0, &drafts, &why));
    assert_non_null(strstr(why.expected, "mt-bench"));
}

/* ---- networks --------------------------------------------------------------------------- */

static struct model load(const char *name, uint32_t tensor_parallel)
{
    const struct model_options options = {
        .weights = -1, .kv = -1, .tensor_parallel = tensor_parallel};
    struct model model;
    struct error why;
    if (!model_load(NULL, name, &options, NULL, 0, &model, &why)) {
        fail_msg("%s", why.found);
    }
    return model;
}

/* Of a GPU: Q and O of 4096 x 4096 and K and V of 4096 x 1024 with a second input for Q, K and V;
 * three matrices of 4096 x 14336; two norms; 3 x 4096 joined to 4096; a head of 32 000 words. */
static void eagle3_head_of_llama(void **state)
{
    (void)state;
    struct model target = load("llama-3.1-8b", 1);
    struct draft_network network;
    draft_network_init(&network, DRAFT_EAGLE3, &target, NULL);
    uint64_t attention = 4096 * 4096 * 2 + 2 * 4096 * 1024, ffn = 3 * 4096 * 14336;
    uint64_t doubled = 4096 * (4096 + 2 * 1024), joined = 3 * 4096 * 4096, head = 4096 * 32000;
    assert_int_equal(draft_network_weight_bytes(&network),
                     2 * (attention + ffn + 2 * 4096 + doubled + joined + head));
    assert_int_equal(model_kv_tokens_bytes(&network.model), 2 * 2 * 8 * 128);
    assert_int_equal(draft_network_projected(&network, false), doubled);
    assert_int_equal(draft_network_projected(&network, true), doubled + joined);
    model_release(&target);
}

static void other_networks(void **state)
{
    (void)state;
    struct model target = load("deepseek-v3", 8), own = load("qwen3-1.7b", 1);
    struct draft_network network;
    draft_network_init(&network, DRAFT_NGRAM, &target, NULL);
    assert_int_equal(draft_network_weight_bytes(&network), 0);
    assert_int_equal(model_kv_tokens_bytes(&network.model), 0);
    draft_network_init(&network, DRAFT_MTP, &target, NULL);
    assert_int_equal(draft_network_weight_bytes(&network),
                     model_layer_weight_bytes(&target, target.layer_count - 1) +
                         2ULL * 2 * 7168 * 7168);
    assert_int_equal(model_kv_tokens_bytes(&network.model),
                     model_kv_token_bytes(&target, target.layer_count - 1));
    draft_network_init(&network, DRAFT_MODEL, &target, &own);
    assert_int_equal(draft_network_weight_bytes(&network), model_weight_bytes(&own));
    assert_int_equal(model_kv_tokens_bytes(&network.model), 28 * 2 * 2 * 8 * 128);
    model_release(&target);
    model_release(&own);
}

/* ---- keys ------------------------------------------------------------------------------- */

struct key_case {
    const char *text;
    const char *found; /* a part of the error; NULL: none */
};

static void keys_are_checked(void **state)
{
    (void)state;
    static const struct key_case cases[] = {
        {"{count: 0}", NULL},
        {"{count: 2, method: ngram, acceptance: 0}", NULL},
        {"{count: 2, method: mtp, acceptance: 100%}", NULL},
        {"{count: 2, method: mtp, acceptance: [90%, 60%, 1%]}", NULL},
        {"{count: 2, method: mtp, acceptance: -0.1}", "'acceptance' is '-0.1'"},
        {"{count: 2, method: mtp, acceptance: 101%}", "'acceptance' is '101%'"},
        {"{count: 2, method: mtp, acceptance: [90%]}", "has 1 positions"},
        {"{count: 2, method: mtp, acceptance: [60%, 90%]}", "rises from 0.6 to 0.9"},
        {"{count: 2, method: mtp}", "nothing says how many"},
        {"{count: 2, method: mtp, acceptance: 1, lengths: x}", "both 'acceptance'"},
        {"{count: 2, acceptance: 1}", "says no method"},
        {"{method: mtp, acceptance: 1}", "has no 'count'"},
        {"{count: 33, method: mtp, acceptance: 1}", "more than 32"},
        {"{count: 2, method: model, acceptance: 1}", "without the model"},
        {"{count: 2, method: mtp, model: qwen3-1.7b, acceptance: 1}", "with method 'mtp'"},
        {"{count: 2, method: model, model: qwen3-1.7b, acceptance: 1}", NULL},
        {"{count: 2, methods: mtp}", "unknown key 'methods'"},
    };
    struct model target = load("llama-3.1-8b", 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error why;
        struct drafts drafts;
        struct node *map = node_parse(cases[i].text, strlen(cases[i].text), "test", &why);
        bool good = drafts_read(map, NULL, &target, &drafts, &why);
        if (good != (cases[i].found == NULL)) {
            fail_msg("%s: %s", cases[i].text, good ? "no error" : why.found);
        }
        if (good) {
            drafts_release(&drafts);
        } else if (strstr(why.found, cases[i].found) == NULL) {
            fail_msg("%s: %s", cases[i].text, why.found);
        }
        node_destroy(map);
    }
    model_release(&target);
}

/* The mean of twenty steps, from any step on, is within a twentieth of a draft for each of them. */
static void short_runs_accept_their_share(void **state)
{
    (void)state;
    struct drafts drafts = {.count = 0};
    drafts_set_rate(&drafts, 4, 0.7);
    for (uint64_t seed = 1; seed <= 50; seed++) {
        double tokens = 0;
        for (uint64_t step = 0; step < 20; step++) {
            tokens += 1 + drafts_accepted(&drafts, seed, 7 * seed + step);
        }
        if (fabs(tokens / 20 - drafts_tokens(&drafts)) > 4 * 0.05) {
            fail_msg("seed %u: %g tokens a step", (unsigned)seed, tokens / 20);
        }
    }
}

static void usual_drafts_are_the_first_published(void **state)
{
    (void)state;
    char text[96];
    assert_true(draft_lengths_usual("llama-3.1-8b-fp8", text, sizeof text));
    assert_string_equal(text, "{count: 3, method: eagle3, lengths: mt-bench}");
    assert_true(draft_lengths_usual("deepseek-v3", text, sizeof text)); /* one draft is published */
    assert_string_equal(text, "{count: 1, method: mtp, lengths: mixed}");
    assert_false(draft_lengths_usual("qwen3-32b", text, sizeof text)); /* needs a draft model */
    assert_false(draft_lengths_usual("llama-3-8b", text, sizeof text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rate_gives_geometric_lengths),
        cmocka_unit_test(positions_are_shares_of_all_steps),
        cmocka_unit_test(no_drafts_yield_one_token),
        cmocka_unit_test(all_or_no_drafts_are_accepted_at_the_ends),
        cmocka_unit_test(rate_of_length_is_its_inverse),
        cmocka_unit_test(draws_follow_the_distribution),
        cmocka_unit_test(published_lengths_are_kept),
        cmocka_unit_test(eagle3_head_of_llama),
        cmocka_unit_test(other_networks),
        cmocka_unit_test(keys_are_checked),
        cmocka_unit_test(usual_drafts_are_the_first_published),
        cmocka_unit_test(short_runs_accept_their_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
