/* Host memory of a server: its part of the machine's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "decode/plan/memory.h"
#include "predict/server/host_engine.h"
#include "predict/server/serving_memory.h"

#include <math.h>

/* Servers of `parts` of what a machine with 8 GPUs has. */
static void check_part(const char *tensor, const char *pipeline, const char *replicas,
                       uint64_t parts)
{
    struct point point = make_point((const char *[]){
        "hardware={extends: h100-sxm, gpus: 8}", "system=vllm-offload", "model=llama-3-8b",
        "context=", "rate=1", "workload=synthetic:prompt=100,output=10", tensor, pipeline, replicas,
        NULL});
    struct trust unseen = {.basis = BASIS_MEASURED};
    double all = profile_value(&point.setup.profile, CURVE_HOST_DRAM_CAPACITY, 0, &unseen);
    assert_true(fabs(host_part(&point) - 0.9 * all / (double)parts) < 2); /* bytes */
    /* The server itself has it, in whole GiB, as its command says. */
    double ratio;
    assert_int_equal(serving_host_room(&point, 0, &ratio), host_most_gib(&point) << 30);
    point_release(&point);
}

/* What is stated is of each replica, and taken whole. */
static void what_is_stated_is_taken_whole(void **state)
{
    (void)state;
    struct point point = make_point((const char *[]){
        "hardware=h100-sxm", "system=vllm-offload", "model=llama-3-8b", "context=", "rate=1",
        "workload=synthetic:prompt=100,output=10", "replicas=4", "host_memory=64GiB", NULL});
    double ratio;
    assert_int_equal(serving_host_room(&point, 0, &ratio), UINT64_C(64) << 30);
    point_release(&point);
}

/* A batch that only decodes has all of the machine's. */
static void steps_alone_have_all_of_it(void **state)
{
    (void)state;
    struct point point =
        make_point((const char *[]){"hardware=h100-sxm", "system=infinigen", "model=llama-3-8b",
                                    "context=8K", "batch=1", NULL});
    struct trust unseen = {.basis = BASIS_MEASURED};
    double all = profile_value(&point.setup.profile, CURVE_HOST_DRAM_CAPACITY, 0, &unseen);
    assert_int_equal(memory_limit(&point.setup, NULL, TIER_HOST, &unseen), (uint64_t)all);
    point_release(&point);
}

/* Four servers of two GPUs share a machine; of more, each has a fourth all the same. A server of
 * eight GPUs has a machine to itself, also if they are two stages of four. */
static void servers_of_one_machine_share_its_memory(void **state)
{
    (void)state;
    check_part("tensor_parallel=2", "pipeline_parallel=1", "replicas=4", 4);
    check_part("tensor_parallel=2", "pipeline_parallel=1", "replicas=6", 4);
    check_part("tensor_parallel=2", "pipeline_parallel=1", "replicas=1", 1);
    check_part("tensor_parallel=8", "pipeline_parallel=1", "replicas=2", 1);
    check_part("tensor_parallel=4", "pipeline_parallel=2", "replicas=2", 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(servers_of_one_machine_share_its_memory),
        cmocka_unit_test(what_is_stated_is_taken_whole),
        cmocka_unit_test(steps_alone_have_all_of_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
