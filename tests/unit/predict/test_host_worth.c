/* What a block that is found below the GPU is worth: figures worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "predict/server/serving_replay.h"
#include "predict/server/serving_memory.h"

/* 20 GB/s in, whoever else copies; 10 us before a transfer's first byte. */
#define MACHINE                                                                                    \
    "hardware={extends: h200, link: {extends: pcie5-x16, h2d: 20GB/s, d2h: 20GB/s,"                \
    " duplex: 40GB/s, copy_latency: 10us, gpus_per_uplink: 1}}"

static struct error why;

/* The times of a block of a server whose GPUs share the model in two ways. */
struct worth {
    double load_ns, compute_ns; /* of the block that a prompt begins with */
};

static struct worth find_worth(const char *first, const char *second)
{
    const char *const overrides[] = {MACHINE,
                                     "system=vllm-offload",
                                     "model=mixtral-8x7b",
                                     "trace=",
                                     "context=",
                                     "rate=1",
                                     "workload=synthetic:prompt=1000,output=10",
                                     "limit=4",
                                     "mechanisms.prefix_block=16tok",
                                     first,
                                     second,
                                     NULL};
    struct point point = make_point(overrides);
    struct run_context runs;
    struct serving_memory memory;
    make_runs(&runs, 1);
    if (!serving_memory_plan(&point, &runs, &memory, &why)) {
        fail_msg("%s", message_of(&why));
    }
    double *compute_ns = host_worth_find(&point, &memory.prefix, point.requests, &runs, &why);
    if (compute_ns == NULL) {
        fail_msg("%s", message_of(&why));
    }
    assert_int_equal(memory.prefix.block_tokens, 16);
    const struct worth worth = {memory.prefix.load_ns[1], compute_ns[1]};
    free(compute_ns);
    run_context_release(&runs);
    point_release(&point);
    return worth;
}

/* Mixtral keeps 2 x 8 x 128 values of 2 bytes in each of 32 layers: 131072 bytes a token, 2 MiB a
 * block. It crosses in one piece to one GPU; GPUs that split heads, or layers, bring a part each, at
 * the same time. */
static void a_block_loads_at_the_pace_of_the_gpus_that_hold_it(void **state)
{
    (void)state;
    assert_near(find_worth("tensor_parallel=1", "data_parallel=1").load_ns, 104857.6, 1e-3);
    assert_near(find_worth("tensor_parallel=2", "data_parallel=1").load_ns, 52428.8, 1e-3);
    assert_near(find_worth("pipeline_parallel=2", "data_parallel=1").load_ns, 52428.8, 1e-3);
}

/* Ranks that share experts step together, but a prompt lies with one of them: it is computed there,
 * and what it finds comes over that rank's link alone. */
static void a_rank_loads_its_prompts_alone(void **state)
{
    (void)state;
    const struct worth one = find_worth("data_parallel=1", "expert_parallel=1");
    const struct worth two = find_worth("data_parallel=2", "expert_parallel=2");
    assert_near(two.load_ns, 104857.6, 1e-3);
    assert_true(two.compute_ns > one.compute_ns / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_loads_at_the_pace_of_the_gpus_that_hold_it),
        cmocka_unit_test(a_rank_loads_its_prompts_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
