/* Tiers of a server's prefix cache: sizes and rates worked by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/make_setup.h"

#include "predict/server/serving_memory.h"

#include <math.h>

#define MACHINE                                                                                    \
    "hardware={extends: a40, link: {extends: pcie4-x16, h2d: 20GB/s, d2h: 20GB/s, duplex: 40GB/s," \
    " copy_latency: 10us, gpus_per_uplink: 1}, disk: {capacity: 4TB, read: 6GB/s, write: 3GB/s,"   \
    " latency: 80us}, pool: {capacity: 8TB, read: 30GB/s, write: 12GB/s, latency: 20us}}"

static struct error why;

static void check_tiers(const char *const overrides[], uint32_t count, const enum tier_id *of)
{
    struct point point = make_point(overrides);
    struct serving_tiers tiers = serving_tiers(point.setup.mechanisms);
    assert_int_equal(tiers.count, count);
    for (uint32_t k = 0; k < count; k++) {
        assert_int_equal(tiers.of[k], of[k]);
    }
    point_release(&point);
}

static void tiers_follow_from_the_system(void **state)
{
    (void)state;
    check_tiers((const char *[]){MACHINE, "system=vllm-offload", "mechanisms.prefix_disk=arrive",
                                 "mechanisms.prefix_pool=evict", NULL},
                4, (enum tier_id[]){TIER_GPU, TIER_HOST, TIER_DISK, TIER_POOL});
    check_tiers((const char *[]){MACHINE, "system=vllm", "mechanisms.prefix_disk=arrive",
                                 "mechanisms.prefix_pool=arrive", NULL},
                3, (enum tier_id[]){TIER_GPU, TIER_DISK, TIER_POOL});
    check_tiers((const char *[]){"hardware=a40", "system=vllm", NULL}, 1,
                (enum tier_id[]){TIER_GPU});
}

/* The rate of a flow alone. */
static void check_rate(struct serving_ways *ways, uint32_t flow, double gb)
{
    double most[SERVER_FLOWS] = {0}, rate[SERVER_FLOWS];
    most[flow] = INFINITY;
    way_shares_find(&ways->shares, most, rate);
    assert_near(rate[flow], gb * 1e9, 1);
}

/* Two GPUs have half of the drives and of the server's way to the pool each. What is loaded crosses
 * the link, too: of its 20 GB/s the disk uses 3, and host memory and the pool get half of the rest. What
 * is saved there crosses nothing else. */
static void ways_are_shared(void **state)
{
    (void)state;
    const char *const overrides[] = {MACHINE,
                                     "system=vllm-offload",
                                     "model=llama-3-8b",
                                     "tensor_parallel=2",
                                     "mechanisms.prefix_disk=arrive",
                                     "mechanisms.prefix_pool=arrive",
                                     NULL};
    struct point point = make_point(overrides);
    struct serving_ways ways;
    struct trust trust = {.basis = BASIS_MEASURED};
    assert_true(serving_ways_init(&ways, &point, 1, &trust, &why));
    check_rate(&ways, flow_loaded(1), 20);
    check_rate(&ways, flow_loaded(2), 3);
    check_rate(&ways, flow_loaded(3), 15);
    check_rate(&ways, flow_saved(2), 1.5);
    check_rate(&ways, flow_saved(3), 6);
    assert_near(ways.load[1].copy, 10000, 0);
    assert_near(ways.load[1].unit, 0, 0);
    assert_near(ways.load[2].copy, 90000, 0);
    assert_near(ways.save[3].copy, 30000, 0);
    double most[SERVER_FLOWS] = {0}, rate[SERVER_FLOWS];
    most[flow_loaded(1)] = most[flow_loaded(2)] = most[flow_loaded(3)] = INFINITY;
    way_shares_find(&ways.shares, most, rate);
    assert_near(rate[flow_loaded(2)], 3e9, 1);
    assert_near(rate[flow_loaded(1)], 8.5e9, 1);
    assert_near(rate[flow_loaded(3)], 8.5e9, 1);
    serving_ways_release(&ways);
    point_release(&point);
}

/* A unit of 256 tokens of Llama-3-8B is a file of 32 MiB for a rank of one GPU, whatever the other
 * rank has. At 16 MiB the drive reads 2 GB/s, at 32 MiB 4, of which each GPU gets half. */
static void a_rank_has_files_of_its_own(void **state)
{
    (void)state;
    const char *const overrides[] = {
        "hardware={extends: a40, link: {extends: pcie4-x16, gpus_per_uplink: 1}, gpus: 2,"
        " disk: {capacity: 4TB, write: 3GB/s, latency: 80us, read: {basis: published, source: none,"
        " points: [[16MiB, 2GB/s], [32MiB, 4GB/s]]}}}",
        "system=vllm-offload",
        "model=llama-3-8b",
        "data_parallel=2",
        "mechanisms.prefix_disk=arrive",
        "mechanisms.prefix_unit=256tok",
        NULL};
    struct point point = make_point(overrides);
    struct serving_ways ways;
    struct trust trust = {.basis = BASIS_MEASURED};
    assert_true(serving_ways_init(&ways, &point, 1, &trust, &why));
    check_rate(&ways, flow_loaded(2), 2);
    serving_ways_release(&ways);
    point_release(&point);
}

/* What a disk evicts is read there and crosses to the pool: at the slower of 6 and 12 GB/s. */
static void a_pool_takes_what_a_disk_evicts(void **state)
{
    (void)state;
    const char *const overrides[] = {MACHINE,
                                     "system=vllm-offload",
                                     "model=llama-3-8b",
                                     "mechanisms.prefix_disk=arrive",
                                     "mechanisms.prefix_pool=evict",
                                     NULL};
    struct point point = make_point(overrides);
    struct serving_ways ways;
    struct trust trust = {.basis = BASIS_MEASURED};
    assert_true(serving_ways_init(&ways, &point, 1, &trust, &why));
    check_rate(&ways, flow_saved(3), 6);
    serving_ways_release(&ways);
    point_release(&point);
}

/* A scenario's own size counts, or all of the machine's. */
static void room_is_said_or_the_machines(void **state)
{
    (void)state;
    struct point point = make_point(
        (const char *[]){MACHINE, "system=vllm-offload", "mechanisms.prefix_disk=arrive",
                         "mechanisms.prefix_pool=arrive", "disk_space=1TB", "context=", "rate=1",
                         "workload=synthetic:prompt=100,output=10", NULL});
    assert_int_equal(serving_tiers_room(&point, TIER_DISK), 1000000000000);
    assert_int_equal(serving_tiers_room(&point, TIER_POOL), 8000000000000);
    point_release(&point);
}

/* A machine need not say how large a drive or a pool is if the scenario does. */
static void a_said_room_needs_no_capacity(void **state)
{
    (void)state;
    struct point point = make_point((const char *[]){
        "hardware={extends: a40, link: pcie4-x16, disk: {read: 6GB/s, write: 3GB/s,"
        " latency: 80us}, pool: {read: 30GB/s, write: 12GB/s, latency: 20us}}",
        "system=vllm-offload", "mechanisms.prefix_disk=arrive", "mechanisms.prefix_pool=arrive",
        "disk_space=1TB", "pool_space=2TB", "context=", "rate=1",
        "workload=synthetic:prompt=100,output=10", NULL});
    assert_int_equal(serving_tiers_room(&point, TIER_DISK), 1000000000000);
    assert_int_equal(serving_tiers_room(&point, TIER_POOL), 2000000000000);
    point_release(&point);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiers_follow_from_the_system),
        cmocka_unit_test(ways_are_shared),
        cmocka_unit_test(a_rank_has_files_of_its_own),
        cmocka_unit_test(a_pool_takes_what_a_disk_evicts),
        cmocka_unit_test(room_is_said_or_the_machines),
        cmocka_unit_test(a_said_room_needs_no_capacity),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
