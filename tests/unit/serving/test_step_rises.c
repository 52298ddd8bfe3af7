/* One sequence more makes no decode step shorter, and no capacity fall by a tenth, beyond what the
 * next CUDA graph adds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "serving/step_cost.h"

enum { SEQUENCES = 1100, CONTEXT = 1000 };

static struct error why;

static double step_ns(struct step_cost *cost, uint32_t sequences)
{
    struct step_load load = {.decodes = sequences, .decode_tokens = (uint64_t)sequences * CONTEXT};
    struct step_time time;
    struct step_clock clock = step_cost_clock(cost);
    if (!clock.step(clock.context, &load, &time, &why)) {
        fail_msg("%s", message_of(&why));
    }
    return (double)time.ns;
}

/* How much the capacity may fall: by a graph's padded rows, and by a product's tile of 64 rows or
 * more (13 % on an A100, from 256 rows to 257: SGLang's rows of aiconfigurator). */
static double most_fall(enum server_engine_id engine, uint32_t sequences)
{
    bool tile = (sequences - 1) % 64 == 0;
    return engine != SERVER_ENGINE_NONE ? 1 : tile ? 0.15 : 0.1;
}

static void check_rise_of(struct point point, const char *model, const char *hardware,
                          enum server_engine_id engine)
{
    static const struct decode_range range = {SEQUENCES, CONTEXT, CONTEXT};
    struct run_context runs;
    make_runs(&runs, 1);
    point.workload.engine = engine;
    struct step_cost *cost = step_cost_create(&point, &range, &runs, &why);
    assert_true(cost != NULL);
    double before = step_ns(cost, 1);
    for (uint32_t n = 2; n <= SEQUENCES; n++) {
        double ns = step_ns(cost, n);
        if (ns < before * (1 - 1e-6) || n / ns < (1 - most_fall(engine, n)) * (n - 1) / before) {
            fail_msg("%s, %s, engine %d: %u sequences take %g ms, %u %g", model, hardware, engine,
                     n, ns / 1e6, n - 1, before / 1e6);
        }
        before = ns;
    }
    step_cost_destroy(cost);
    run_context_release(&runs);
    point_release(&point);
}

static void check_rise(const char *model, const char *hardware, enum server_engine_id engine)
{
    check_rise_of(POINT("system=vllm", model, hardware, "steps=1"), model, hardware, engine);
}

/* Two GPUs that share a model in either way; among ranks, only their sum of sequences rises by one. */
static void nor_is_it_where_gpus_share_the_model(void **state)
{
    (void)state;
    static const enum server_engine_id engines[] = {SERVER_ENGINE_VLLM_019, SERVER_ENGINE_SGLANG_05,
                                                    SERVER_ENGINE_TENSORRT_LLM_10};
    for (int i = 0; i < 3; i++) {
        const char *model = "model=qwen3-30b-a3b", *machine = "hardware=h100-sxm";
        check_rise_of(
            POINT("system=vllm", model, machine, "steps=1", "hardware.gpus=2", "tensor_parallel=2"),
            model, "2 GPUs", engines[i]);
        check_rise_of(POINT("system=vllm", model, machine, "steps=1", "hardware.gpus=2",
                            "data_parallel=2", "expert_parallel=2"),
                      model, "2 ranks", engines[i]);
    }
}

static void one_sequence_more_is_no_faster(void **state)
{
    (void)state;
    static const char *const models[] = {"model=llama-3.1-8b", "model=llama-3.1-8b-awq",
                                         "model=qwen3-8b-fp8", "model=qwen3-30b-a3b",
                                         "model=mixtral-8x7b"};
    static const char *const machines[] = {
        "hardware=h100-sxm", "hardware=rtx-4090", "hardware=a100-sxm-80gb",       "hardware=l40s",
        "hardware=b200",     "hardware=h20",      "hardware=rtx-pro-6000-server", "hardware=a40"};
    for (size_t i = 0; i < COUNT(models); i++) {
        for (size_t j = 0; j < COUNT(machines); j++) {
            check_rise(models[i], machines[j], SERVER_ENGINE_NONE);
            check_rise(models[i], machines[j], SERVER_ENGINE_VLLM_019);
            check_rise(models[i], machines[j], SERVER_ENGINE_SGLANG_05);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_sequence_more_is_no_faster),
        cmocka_unit_test(nor_is_it_where_gpus_share_the_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
