/* Host memory of a server: its part of the machine's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "study/plan/host_room.h"

/* Servers of `parts` of what a machine with 8 GPUs has. */
static void check_part(const char *tensor, const char *pipeline, const char *replicas,
                       uint64_t parts)
{
    struct point point = make_point((const char *[]){
        "hardware={extends: h100-sxm, gpus: 8}", "system=vllm-offload", "model=llama-3-8b",
        "context=", "rate=1", "workload=synthetic:prompt=100,output=10", tensor, pipeline, replicas,
        NULL});
    assert_int_equal(host_part(&point), host_usable(&point.setup) / parts);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
