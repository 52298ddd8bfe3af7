/* Places and paths: schedules on the engine, worked by hand. A GB/s is a byte a nanosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/node.h"
#include "place/places.h"

#include <math.h>
#include <string.h>

/* An engine with the channels of the places. */
static struct engine *make_engine(const struct places *places)
{
    struct error why;
    struct engine *engine = engine_create(&why);
    assert_non_null(engine);
    for (int i = 0; i < places->channel_count; i++) {
        assert_int_equal(engine_channel_add(engine, places->channels[i].name,
                                            places->channels[i].rate / 1e9, &why),
                         i);
    }
    return engine;
}

/* Move `bytes` from one place to another, from `at_ns` on, and `fixed_ns` before the first byte. */
static engine_task_id move(struct engine *engine, const struct places *places, int from, int to,
                           bool tiers, double bytes, int64_t at_ns, int64_t fixed_ns)
{
    struct error why;
    const struct engine_route route = places_route(places, from, to, tiers);
    assert_true(route.count > 0);
    const struct engine_task task = {
        .resource = ENGINE_NONE,
        .release_ns = at_ns,
        .fixed_ns = fixed_ns,
        .amount = bytes,
        .cap = INFINITY,
        .route = engine_route_add(engine, &route, &why),
    };
    return engine_submit(engine, &task, &why);
}

static void check_end(const struct engine *engine, engine_task_id task, int64_t end_ns)
{
    assert_int_equal(engine_task_record(engine, task)->end_ns, end_ns);
}

/* DRAM gives 30 GB/s, the links of two GPUs 20 and 16. While both load, each gets 15. The second has
 * its 1200 bytes after 80 ns; then the first loads its last 800 at 20 GB/s. Nothing leads to a GPU
 * that nothing joins. */
static void gpus_of_a_server_have_links_of_their_own(void **state)
{
    (void)state;
    struct error why;
    struct places places = {.count = 0};
    int host = places_add(&places, TIER_HOST, 30e9);
    int first = places_add(&places, TIER_GPU, 0), second = places_add(&places, TIER_GPU, 0);
    int third = places_add(&places, TIER_GPU, 0);
    places_join(&places, host, first, &(struct place_link){"in 0", "out 0", 20e9, 20e9, 36e9});
    places_join(&places, host, second, &(struct place_link){"in 1", "out 1", 16e9, 16e9, 0});
    struct engine *engine = make_engine(&places);
    engine_task_id a = move(engine, &places, host, first, true, 2000, 0, 0);
    engine_task_id b = move(engine, &places, host, second, true, 1200, 0, 0);
    assert_true(engine_run(engine, &why));
    check_end(engine, a, 120);
    check_end(engine, b, 80);
    engine_destroy(engine);
    assert_int_equal(places_route(&places, host, third, true).count, 0);
    assert_int_equal(places_route(&places, host, host, true).count, 0);
}

/* Without a fabric, bytes from GPU to GPU pass the host: out of one at 20 GB/s, into the other at 16.
 * With one of 50 GB/s they do not, and a load beside them has its link to itself. */
static void a_fabric_spares_the_host(void **state)
{
    (void)state;
    for (int fabric = 0; fabric < 2; fabric++) {
        struct error why;
        struct places places = {.count = 0};
        int host = places_add(&places, TIER_HOST, 0);
        int first = places_add(&places, TIER_GPU, 0), second = places_add(&places, TIER_GPU, 0);
        places_join(&places, host, first, &(struct place_link){"in 0", "out 0", 20e9, 20e9, 0});
        places_join(&places, host, second, &(struct place_link){"in 1", "out 1", 16e9, 16e9, 0});
        if (fabric > 0) {
            places_join(&places, first, second, &(struct place_link){"to", "fro", 50e9, 50e9, 0});
        }
        struct engine *engine = make_engine(&places);
        engine_task_id sent = move(engine, &places, first, second, false, 800, 0, 0);
        engine_task_id load = move(engine, &places, host, second, false, 1600, 0, 0);
        assert_true(engine_run(engine, &why));
        check_end(engine, sent, fabric > 0 ? 16 : 100); /* half of 16 GB/s; 50 */
        check_end(engine, load, fabric > 0 ? 100 : 150);
        engine_destroy(engine);
    }
}

/* Two servers on a network of 5 GB/s each way. The KV of a request, 300 tokens of 1000 bytes, leaves
 * one GPU at 20 GB/s and reaches the other at 10: alone it takes 60 us after 7 us. A second request
 * of as many tokens, at 17 us, shares the network: the first has 250 KB left then, and at 2.5 GB/s
 * ends 100 us later. The second has 50 KB left, alone on the network again. What comes back has the
 * network's other direction. */
static void kv_of_a_request_crosses_to_another_server(void **state)
{
    (void)state;
    struct error why;
    struct places places = {.count = 0};
    int gpu[2], host[2];
    for (int i = 0; i < 2; i++) {
        host[i] = places_add(&places, TIER_HOST, 0);
        gpu[i] = places_add(&places, TIER_GPU, 0);
        places_join(&places, host[i], gpu[i], &(struct place_link){"in", "out", 10e9, 20e9, 25e9});
    }
    places_join(&places, host[0], host[1], &(struct place_link){"to", "fro", 5e9, 5e9, 0});
    assert_int_equal(places_route(&places, gpu[0], gpu[1], false).count, 5);
    struct engine *engine = make_engine(&places);
    const double kv = 300 * 1000;
    engine_task_id first = move(engine, &places, gpu[0], gpu[1], false, kv, 0, 7000);
    engine_task_id second = move(engine, &places, host[0], host[1], false, kv, 10000, 7000);
    engine_task_id back = move(engine, &places, gpu[1], gpu[0], false, kv, 0, 7000);
    assert_true(engine_run(engine, &why));
    check_end(engine, first, 117000);
    check_end(engine, second, 127000);
    check_end(engine, back, 67000);
    engine_destroy(engine);
}

/* ---- from a machine's file ---------------------------------------------------------------- */

static struct profile load(const char *text)
{
    struct error why;
    struct profile profile;
    struct node *node = node_parse(text, strlen(text), "test", &why);
    assert_non_null(node);
    if (!profile_load(NULL, node, &profile, &why)) {
        fail_msg("%s", why.found);
    }
    node_destroy(node);
    return profile;
}

static void a_machine_says_its_ways(void **state)
{
    (void)state;
    struct trust trust = {.basis = BASIS_MEASURED};
    struct profile profile = load(
        "link: {h2d: 26GB/s, d2h: 24GB/s, duplex: 40GB/s,"
        " copy_latency: 2us}\n"
        "fabric: {collective_2: {points: [[1B, 10us], [1MB, 60us]], basis: datasheet, source: x}}\n"
        "disk: {capacity: 4TB, read: 6GB/s, write: 3GB/s,"
        " latency: 80us}\n"
        "pool: {capacity: 1TB, read: 20GB/s}\n"
        "network: {bandwidth: 12GB/s, latency: 5us}\n");
    const struct {
        enum way_id way;
        double bytes, there, back, both;
    } rows[] = {
        {WAY_IN, 0, 26e9, 24e9, 40e9},     {WAY_PEER, 1e6, 1e6 / 60e-6, 1e6 / 60e-6, 0},
        {WAY_DISK_IN, 4096, 6e9, 3e9, 0},  {WAY_POOL_IN, 0, 20e9, 0, 0},
        {WAY_NETWORK, 1e6, 12e9, 12e9, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct place_link link = place_link_of(&profile, rows[i].way, rows[i].bytes, 1, &trust);
        struct place_link half = place_link_of(&profile, rows[i].way, rows[i].bytes, 2, &trust);
        assert_float_equal(link.there, rows[i].there, 1);
        assert_float_equal(link.back, rows[i].back, 1);
        assert_float_equal(link.both, rows[i].both, 1);
        assert_true(half.there == link.there / 2 && half.both == link.both / 2);
    }
    assert_true(way_start_ns(&profile, WAY_DISK_IN, BY_ENGINE, &trust) == 80000);
    assert_true(way_start_ns(&profile, WAY_PEER, BY_ENGINE, &trust) == 0);
    assert_int_equal(trust.basis, BASIS_ASSUMED);
    profile_release(&profile);
}

/* A way back leads where the way came from, and rows name tiers that exist. */
static void every_way_has_a_way_back(void **state)
{
    (void)state;
    for (enum way_id id = 0; id < WAY_COUNT; id++) {
        const struct way_kind *way = &way_kinds[id], *back = &way_kinds[way->back];
        assert_non_null(way->name);
        assert_true(back->back == id && back->from == way->to && back->to == way->from);
        assert_true(way->by[BY_ENGINE].rate < CURVE_COUNT && way->both == back->both);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gpus_of_a_server_have_links_of_their_own),
        cmocka_unit_test(a_fabric_spares_the_host),
        cmocka_unit_test(kv_of_a_request_crosses_to_another_server),
        cmocka_unit_test(a_machine_says_its_ways),
        cmocka_unit_test(every_way_has_a_way_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
