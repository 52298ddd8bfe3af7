/* vLLM's groups of layers and SGLang's pools, worked by hand. Published logs are compared by
 * tests/script/kv_pools.sh. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "unit/fixture/engine_of.h"

#include "model/kv_pools.h"

static struct kv_limits limits_of(const char *engine, uint64_t batched, bool caches)
{
    const struct server_engine found = engine_of(engine);
    return kv_limits_of(&found.groups, batched, caches);
}

static bool divides(const struct model *model, double pool, struct kv_pools *out)
{
    const struct server_engine sglang = engine_of("sglang-0.5");
    return kv_pools_divide(model, &sglang.pools, pool, out);
}

static struct model load(const char *name, enum dtype kv, uint32_t tensor_parallel)
{
    const struct model_options options = {
        .weights = -1, .kv = (int)kv, .tensor_parallel = tensor_parallel};
    struct model model;
    struct error why;
    assert_true(model_load(NULL, name, &options, NULL, 0, &model, &why));
    return model;
}

static struct kv_groups plan(const struct model *model, const struct kv_limits *limits)
{
    struct kv_groups groups;
    struct error why;
    assert_true(kv_groups_plan(model, limits, &groups, &why));
    return groups;
}

/* 18 full and 18 sliding layers of 8 x 64: one group of each. A sequence of 131072 tokens takes
 * 8192 full blocks, and of the others what 127 + 8192 tokens reach, and one more. */
static void windows_and_full_layers_share_a_pool(void **state)
{
    (void)state;
    struct model model = load("gpt-oss-120b", DTYPE_BF16, 1);
    struct kv_limits limits = limits_of("vllm-0.14", 8192, true);
    struct kv_groups groups = plan(&model, &limits);
    assert_int_equal(groups.groups, 2);
    assert_int_equal(groups.layers, 18);
    assert_int_equal(groups.block_bytes, 18 * 16 * 2048);
    assert_int_equal(kv_groups_blocks(&groups, &limits, 131072), 8192 + 520 + 1);
    limits.hybrid = false;
    groups = plan(&model, &limits);
    assert_int_equal(groups.groups, 1);
    assert_int_equal(kv_groups_blocks(&groups, &limits, 131072), 8192);
    assert_int_equal(groups.block_bytes, 36 * 16 * 2048);
    model_release(&model);
}

/* 48 states of 48 x 128 x 128 values of 4 bytes and three tokens of the convolution's 10240 values:
 * 3207168 bytes. A token has 4096, so a block has 783 tokens, rounded up to 16. Three groups of
 * states of 16 layers, each with two blocks of a sequence. */
static void a_block_holds_no_less_than_a_state(void **state)
{
    (void)state;
    struct model model = load("qwen3.5-27b", DTYPE_BF16, 1);
    struct kv_limits limits = limits_of("vllm-0.19", 8192, true);
    struct kv_groups groups = plan(&model, &limits);
    assert_int_equal(groups.kinds[0].state_bytes, 48 * 128 * 128 * 4 + 10240 * 3 * 2);
    assert_int_equal(groups.kinds[1].block, 784);
    assert_int_equal(groups.groups, 4);
    assert_int_equal(kv_groups_blocks(&groups, &limits, 784), 3 * 2 + 1);
    limits.align = false;
    assert_int_equal(kv_groups_blocks(&groups, &limits, 785), 3 * 1 + 2);
    model_release(&model);
}

/* 20 layers of states in groups of 7, like the 7 full ones: the last group lacks one. */
static void the_last_group_is_padded(void **state)
{
    (void)state;
    struct model model = load("kimi-linear-48b-a3b", DTYPE_BF16, 2);
    struct kv_limits limits = limits_of("vllm-0.14", 8192, false);
    struct kv_groups groups = plan(&model, &limits);
    assert_int_equal(groups.layers, 7);
    assert_int_equal(groups.groups, 4);
    assert_int_equal(groups.kinds[0].padding + groups.kinds[1].padding, 1);
    model_release(&model);
}

/* Gemma 4's full layers have half the bytes of a token, so their blocks have twice the tokens. */
static void pages_have_the_same_bytes(void **state)
{
    (void)state;
    struct model model = load("gemma-4-31b", DTYPE_BF16, 1);
    struct kv_limits limits = limits_of("vllm-0.23", 8192, true);
    struct kv_groups groups = plan(&model, &limits);
    assert_int_equal(groups.kinds[0].block, 16);
    assert_int_equal(groups.kinds[1].block, 32);
    assert_int_equal(groups.kinds[0].page, groups.kinds[1].page);
    assert_int_equal(groups.kinds[0].groups, 5);
    model_release(&model);
}

/* Latents of 656 bytes and keys of 132, in 61 layers: one group. */
static void layers_that_keep_all_are_one_group(void **state)
{
    (void)state;
    struct model model = load("deepseek-v3.2", DTYPE_FP8, 1);
    struct kv_limits limits = limits_of("vllm-0.23", 8192, true);
    struct kv_groups groups = plan(&model, &limits);
    assert_int_equal(groups.groups, 1);
    assert_int_equal(groups.block_bytes, 61 * 64 * (656 + 132));
    assert_true(kv_pools_full(&model, 1000) == 61 * 1000. * (656 + 132));
    assert_true(kv_pools_window(&model, 1000) == 0 && kv_pools_states(&model, 10) == 0);
    model_release(&model);
}

/* SGLang's pools. 18 full and 18 sliding layers of 2048 bytes a token: a window pool has 0.8 times
 * as many tokens, which limits sequences that are shorter than a window. */
static void sglang_divides_full_and_sliding(void **state)
{
    (void)state;
    struct model model = load("gpt-oss-120b", DTYPE_BF16, 1);
    struct kv_pools pools;
    assert_true(divides(&model, 18 * 2048 * 1.8 * 1000 + 1, &pools));
    assert_true(pools.tokens == 1000 && pools.windowed == 800 && pools.slots == 0);
    assert_true(kv_pools_tokens(&model, &pools, 4096, true) == 1000);
    assert_true(kv_pools_tokens(&model, &pools, 64, true) == 800);
    model_release(&model);
}

/* 9 / 19 of the memory is 90 slots, one of which is not lent; a request takes three of them. */
static void sglang_divides_full_and_states(void **state)
{
    (void)state;
    struct model model = load("qwen3.5-27b", DTYPE_BF16, 1);
    struct kv_pools pools;
    assert_true(divides(&model, 190 * kv_pools_states(&model, 0) + 1, &pools));
    assert_true(pools.slots == 89 && pools.windowed == 0);
    assert_true(pools.tokens == floor(100 * kv_pools_states(&model, 0) / (16 * 4096)));
    assert_true(kv_pools_tokens(&model, &pools, 10, true) == 290);
    assert_true(kv_pools_tokens(&model, &pools, 10, false) == 890);
    model_release(&model);
    model = load("qwen3-8b", DTYPE_BF16, 1);
    assert_false(divides(&model, 1e9, &pools));
    model_release(&model);
}

/* The first layer of Qwen3.5 alone: pages that are states, one or two to a sequence. */
static void states_alone_are_pages(void **state)
{
    (void)state;
    struct model model = load("qwen3.5-27b", DTYPE_BF16, 1);
    model.layer_count = 1;
    struct kv_limits limits = limits_of("vllm-0.23", 8192, true);
    struct kv_groups groups = plan(&model, &limits);
    assert_true(groups.block_bytes == model_state_bytes(&model, 0));
    assert_int_equal(kv_groups_blocks(&groups, &limits, 100000), 2);
    model_release(&model);
}

/* What an engine logs of a pool is a pool again, of no more bytes, and the engine logs the same of it. */
static void logged_tokens_are_a_pool(void **state)
{
    (void)state;
    static const char *const models[] = {"gpt-oss-120b", "qwen3.5-9b", "qwen3.5-27b",
                                         "gemma-4-31b"};
    static const char *const engines[] = {"vllm-0.14", "vllm-0.19", "vllm-0.27"};
    for (size_t i = 0; i < 4 * 3; i++) {
        struct model model = load(models[i % 4], DTYPE_BF16, 1);
        struct kv_limits limits = limits_of(engines[i / 4], 8192, i % 2 == 0);
        struct kv_groups groups = plan(&model, &limits);
        for (uint64_t pool = (uint64_t)3 << 30; pool < (uint64_t)200 << 30; pool += pool / 7) {
            uint64_t tokens = kv_groups_tokens(&groups, &limits, pool, 32768);
            double bytes = kv_groups_logged_bytes(&groups, &limits, tokens, 32768);
            assert_true(bytes <= (double)pool);
            assert_int_equal(kv_groups_tokens(&groups, &limits, (uint64_t)bytes, 32768), tokens);
        }
        model_release(&model);
    }
}

/* SGLang logs the tokens of its full layers. */
static void logged_tokens_are_pools(void **state)
{
    (void)state;
    static const char *const models[] = {"gpt-oss-120b", "qwen3.5-27b"};
    const struct server_engine sglang = engine_of("sglang-0.5");
    for (size_t i = 0; i < 2; i++) {
        struct model model = load(models[i], DTYPE_BF16, 1);
        struct kv_pools pools;
        double bytes = kv_pools_logged_bytes(&model, &sglang.pools, 430913);
        assert_true(divides(&model, bytes, &pools));
        /* The memory of a slot that is not whole has tokens instead. */
        double slack = kv_pools_states(&model, 1) / kv_pools_full(&model, 1);
        assert_true(pools.tokens >= 430912 && pools.tokens <= 430914 + slack);
        model_release(&model);
    }
}

static void compressed_layers_are_refused(void **state)
{
    (void)state;
    struct model model = load("deepseek-v4-flash", DTYPE_FP8, 1);
    struct kv_limits limits = limits_of("vllm-0.23", 8192, true);
    struct kv_groups groups;
    struct error why;
    assert_false(kv_groups_plan(&model, &limits, &groups, &why));
    assert_string_equal(why.found, "vLLM's blocks for the compressed layers of deepseek-v4-flash "
                                   "are not modelled");
    model_release(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_and_full_layers_share_a_pool),
        cmocka_unit_test(a_block_holds_no_less_than_a_state),
        cmocka_unit_test(the_last_group_is_padded),
        cmocka_unit_test(pages_have_the_same_bytes),
        cmocka_unit_test(layers_that_keep_all_are_one_group),
        cmocka_unit_test(sglang_divides_full_and_sliding),
        cmocka_unit_test(sglang_divides_full_and_states),
        cmocka_unit_test(states_alone_are_pages),
        cmocka_unit_test(logged_tokens_are_a_pool),
        cmocka_unit_test(logged_tokens_are_pools),
        cmocka_unit_test(compressed_layers_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
