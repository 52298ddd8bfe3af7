/* What engines take of host memory, worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>

#include "unit/fixture/engine_of.h"

#include "predict/server/host_engine.h"

#define GIB 1073741824.0

static struct kv_limits limits_of(const char *engine, uint64_t batched, bool caches)
{
    const struct server_engine found = engine_of(engine);
    return kv_limits_of(&found.groups, batched, caches);
}

static const struct host_engine *host_of(const char *flag, const char *engine)
{
    const struct server_engine found = engine_of(engine);
    return host_engine_of(flag, &found);
}

static struct model load(const char *name, uint32_t tensor_parallel)
{
    const struct model_options options = {
        .weights = -1, .kv = (int)DTYPE_BF16, .tensor_parallel = tensor_parallel};
    struct model model;
    struct error why;
    assert_true(model_load(NULL, name, &options, NULL, 0, &model, &why));
    return model;
}

static double takes(const char *flag, const char *engine, const struct model *model, double bytes)
{
    const struct kv_limits limits = limits_of(engine, 8192, true);
    const struct host_engine *row = host_of(flag, engine);
    assert_non_null(row);
    return host_engine_takes(row, model, &limits, bytes);
}

/* 32 layers of 16 tokens of 4096 bytes: a block has 2 MiB. Of 10 GiB each layer has 320 MiB, for
 * which PyTorch pins 512: 16 GiB. 8 GiB are 256 MiB a layer, which is a power of two. */
static void pinned_tensors_are_powers_of_two(void **state)
{
    (void)state;
    struct model model = load("llama-3.1-8b", 1);
    const char *old = "vllm-0.19";
    assert_true(takes("--kv-offloading-size 10", old, &model, 10 * GIB) == 16 * GIB);
    assert_true(takes("--kv-offloading-size 8", old, &model, 8 * GIB) == 8 * GIB);
    assert_true(takes("--kv-offloading-size 1", old, &model, 0.001 * GIB) == 0);
    model_release(&model);
    /* Two GPUs: half of each layer on each, and half of the 320 MiB: 256 MiB. */
    model = load("llama-3.1-8b", 2);
    assert_true(takes("--kv-offloading-size 10", old, &model, 10 * GIB) == 16 * GIB);
    model_release(&model);
}

static double typed(const struct host_engine *engine, const char *model, uint32_t gpus,
                    uint32_t ranks)
{
    struct point server = {.setup.model = load(model, gpus / ranks)};
    server.setup.model.parallel.data = ranks;
    double number = host_engine_typed(engine, 16 * GIB, &server);
    model_release(&server.setup.model);
    return number;
}

/* SGLang's flag is a whole number of 10^9 bytes of each GPU: 16 GiB are 17.18 of them, 8.59 on each
 * of two. vLLM's counts GiB of all GPUs of a rank; ranks that share experts are engines of one server. */
static void a_flag_without_fractions_is_rounded_up(void **state)
{
    const struct host_engine *sglang = host_of("--hicache-size", "sglang-0.5");
    const struct host_engine *vllm = host_of("--kv-offloading-size", "vllm-0.19");
    (void)state;
    assert_true(typed(sglang, "llama-3.1-8b", 1, 1) == 18);
    assert_true(typed(sglang, "llama-3.1-8b", 2, 1) == 9);
    assert_true(typed(vllm, "llama-3.1-8b", 2, 1) == 16);
    assert_true(typed(vllm, "qwen3-30b-a3b", 2, 2) == 8);
    assert_true(sglang->above_gpu);
    assert_false(vllm->above_gpu);
}

/* Since 0.27 a file of whole blocks: 5120 of 2 MiB. */
static void a_shared_region_takes_what_is_asked(void **state)
{
    (void)state;
    struct model model = load("llama-3.1-8b", 1);
    const char *new = "vllm-0.27";
    assert_true(takes("--kv-offloading-size 10", new, &model, 10 * GIB) == 10 * GIB);
    assert_true(takes("--kv-offloading-size 10", new, &model, 10 * GIB + 1e6) == 10 * GIB);
    assert_int_equal(host_of("--kv-offloading-size", new)->kind, HOST_SHARED);
    assert_int_equal(host_of("--kv-offloading-size", "vllm-0.23")->kind, HOST_PINNED);
    model_release(&model);
}

/* Qwen3.5 has a tensor for each of the 16 layers of a group, of blocks of 49 MiB in four groups: 10
 * GiB are 208 of them. 208 pages of 3211264 bytes are 637 MiB, for which 1 GiB is pinned. SGLang
 * takes 10^10 bytes for KV, rounded up to a page of 64 tokens of 65536, and again for states. */
static void hybrid_models_take_up_to_twice_as_much(void **state)
{
    (void)state;
    struct model model = load("qwen3.5-27b", 1);
    double page = 64 * 65536.0;
    assert_true(takes("--kv-offloading-size", "vllm-0.19", &model, 10 * GIB) == 16 * GIB);
    assert_true(takes("--hicache-size", "sglang-0.5", &model, 1e10) ==
                (floor(1e10 / page) + 1) * page + 1e10);
    model_release(&model);
}

/* A token of Qwen3.5 takes a quarter of the room that its full layers alone would leave: blocks of
 * 784 tokens, one of the full layers and three of states. */
static void states_take_room_at_every_block(void **state)
{
    (void)state;
    struct model model = load("qwen3.5-27b", 1);
    struct kv_limits limits = limits_of("vllm-0.19", 8192, true);
    struct kv_groups groups;
    struct error why;
    assert_true(kv_groups_plan(&model, &limits, &groups, &why));
    assert_true(kv_groups_token_bytes(&groups) == 4 * 16 * 3211264.0 / 784);
    assert_true(kv_groups_token_bytes(&groups) == 4 * 16 * 4096.0);
    model_release(&model);
    model = load("llama-3.1-8b", 1); /* one group, no padding: 32 layers of 4096 bytes */
    assert_true(kv_groups_plan(&model, &limits, &groups, &why));
    assert_true(kv_groups_token_bytes(&groups) == 32 * 4096.0);
    model_release(&model);
}

/* With latents each GPU has the same, and LMCache keeps it once. */
static void latents_are_kept_once(void **state)
{
    (void)state;
    struct model model = load("deepseek-v3", 8);
    assert_true(takes("LMCACHE_MAX_LOCAL_CPU_SIZE=5", "vllm-0.19", &model, 40 * GIB) == 5 * GIB);
    model_release(&model);
}

static void every_row_says_where_it_is_from(void **state)
{
    (void)state;
    struct error why;
    for (const char *const *name = server_engine_names(&why) + 1; *name != NULL; name++) {
        const struct server_engine engine = engine_of(*name);
        assert_true(engine.host_count > 0);
        for (size_t i = 0; i < engine.host_count; i++) {
            const struct host_engine *row = &engine.host[i];
            assert_true(row->unit >= 1 && row->source[0] != '\0' && row->versions[0] != '\0');
        }
    }
    assert_null(host_of("vllm serve MODEL", "vllm-0.19"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pinned_tensors_are_powers_of_two),
        cmocka_unit_test(a_flag_without_fractions_is_rounded_up),
        cmocka_unit_test(a_shared_region_takes_what_is_asked),
        cmocka_unit_test(hybrid_models_take_up_to_twice_as_much),
        cmocka_unit_test(states_take_room_at_every_block),
        cmocka_unit_test(latents_are_kept_once),
        cmocka_unit_test(every_row_says_where_it_is_from),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
