/* Places and paths: schedules on the engine, worked by hand and played again by shares. A GB/s is a
 * byte a nanosecond. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/node.h"
#include "core/random.h"
#include "machine/places.h"

#include <math.h>
#include <string.h>

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

enum { MOVES_MOST = 6 };

struct move {
    int from, to;
    double bytes;
    int64_t at_ns, end_ns; /* end_ns: as worked by hand */
};

struct moves {
    struct move all[MOVES_MOST];
    uint32_t count;
    bool tiers; /* their bandwidths count */
};

static void find_routes(const struct places *places, const struct moves *moves,
                        struct engine_route routes[MOVES_MOST])
{
    for (uint32_t i = 0; i < moves->count; i++) {
        const struct move *move = &moves->all[i];
        routes[i] = places_route(places, move->from, move->to, moves->tiers);
        assert_true(routes[i].count > 0);
    }
}

/* When the moves end on an engine that has the channels of the places. */
static void play(const struct places *places, const struct moves *moves, int64_t end_ns[MOVES_MOST])
{
    struct error why;
    struct engine_route routes[MOVES_MOST];
    struct engine *engine = engine_create(&why);
    find_routes(places, moves, routes);
    for (int i = 0; i < places->channel_count; i++) {
        assert_int_equal(engine_channel_add(engine, places->rate[i] / 1e9), i);
    }
    for (uint32_t i = 0; i < moves->count; i++) {
        const struct engine_task wait = {.resource = ENGINE_NONE, .fixed_ns = moves->all[i].at_ns};
        engine_task_id waited = engine_submit(engine, &wait, &why);
        const struct engine_task task = {
            .resource = ENGINE_NONE,
            .after = &waited,
            .after_count = 1,
            .amount = moves->all[i].bytes,
            .cap = INFINITY,
            .route = engine_route_add(engine, &routes[i], &why),
        };
        assert_int_equal(engine_submit(engine, &task, &why), 2 * i + 1);
    }
    assert_true(engine_run(engine, NULL, &why));
    for (uint32_t i = 0; i < moves->count; i++) {
        end_ns[i] = engine_task_record(engine, 2 * i + 1)->end_ns;
    }
    engine_destroy(engine);
}

/* ---- conservation: the same by shares that last until a move begins or ends ---------------- */

struct course {
    double now_ns, left[MOVES_MOST], end_ns[MOVES_MOST];
    double most[MOVES_MOST], rate[MOVES_MOST]; /* bytes a second */
    double carried[ENGINE_MOST_CHANNELS];      /* bytes */
};

/* Which moves last now, and how long that stays so. */
static double time_to_change(struct course *course, const struct moves *moves,
                             struct way_shares *shares)
{
    double ns = INFINITY;
    for (uint32_t i = 0; i < moves->count; i++) {
        double begins = (double)moves->all[i].at_ns - course->now_ns;
        course->most[i] = begins <= 0 && course->left[i] > 0 ? INFINITY : 0;
        ns = begins > 0 ? fmin(ns, begins) : ns;
    }
    way_shares_find(shares, course->most, course->rate);
    for (uint32_t i = 0; i < moves->count; i++) {
        ns = course->most[i] > 0 ? fmin(ns, course->left[i] / course->rate[i] * 1e9) : ns;
    }
    return ns;
}

static void pass_time(struct course *course, const struct moves *moves,
                      const struct engine_route *routes, double ns)
{
    course->now_ns += ns;
    for (uint32_t i = 0; i < moves->count; i++) {
        double bytes = fmin(course->left[i], course->rate[i] * ns / 1e9);
        for (uint32_t use = 0; use < routes[i].count; use++) {
            course->carried[routes[i].uses[use].channel] += bytes;
        }
        course->left[i] -= bytes;
        if (course->most[i] > 0 && course->left[i] <= 1e-9 * moves->all[i].bytes) {
            course->left[i] = 0;
            course->end_ns[i] = course->now_ns;
        }
    }
}

/* No channel carries more than it can at any time; in the end each has carried all bytes of the
 * moves that cross it; and the engine ends these when they end here, but for its whole
 * nanoseconds. */
static void check_conservation(const struct places *places, const struct moves *moves,
                               const int64_t end_ns[MOVES_MOST])
{
    struct error why;
    struct way_shares shares;
    struct engine_route routes[MOVES_MOST];
    struct course course = {.now_ns = 0};
    double crosses[ENGINE_MOST_CHANNELS] = {0};
    find_routes(places, moves, routes);
    assert_true(way_shares_init(&shares, places, routes, moves->count, &why));
    for (uint32_t i = 0; i < moves->count; i++) {
        course.left[i] = moves->all[i].bytes;
        for (uint32_t use = 0; use < routes[i].count; use++) {
            crosses[routes[i].uses[use].channel] += moves->all[i].bytes;
        }
    }
    for (double ns; isfinite(ns = time_to_change(&course, moves, &shares));) {
        struct course before = course;
        pass_time(&course, moves, routes, ns);
        for (int c = 0; c < places->channel_count; c++) {
            double most = places->rate[c] * ns / 1e9;
            assert_true(course.carried[c] - before.carried[c] <= most * (1 + 1e-9) + 1e-6);
        }
    }
    for (int c = 0; c < places->channel_count; c++) {
        assert_true(fabs(course.carried[c] - crosses[c]) <= 1e-6 * crosses[c]);
    }
    for (uint32_t i = 0; i < moves->count; i++) {
        assert_true(fabs(course.end_ns[i] - (double)end_ns[i]) <= MOVES_MOST);
    }
    way_shares_release(&shares);
}

static void check_moves(const struct places *places, const struct moves *moves)
{
    int64_t end_ns[MOVES_MOST];
    play(places, moves, end_ns);
    for (uint32_t i = 0; i < moves->count; i++) {
        assert_int_equal(end_ns[i], moves->all[i].end_ns);
    }
    check_conservation(places, moves, end_ns);
}

/* ---- worked by hand ------------------------------------------------------------------------ */

/* DRAM gives 30 GB/s, the links of two GPUs 20 and 16. While both load, each gets 15. The second
 * has its 1200 bytes after 80 ns; then the first loads its last 800 at 20 GB/s. So do what they
 * save, later. Nothing leads to a GPU that nothing joins. */
static void gpus_of_a_server_have_links_of_their_own(void **state)
{
    (void)state;
    struct places places = {.count = 0};
    int host = places_add(&places, TIER_HOST, 30e9);
    int first = places_add(&places, TIER_GPU, 0), second = places_add(&places, TIER_GPU, 0);
    int third = places_add(&places, TIER_GPU, 0);
    places_join(&places, host, first, &(struct place_link){20e9, 20e9, 36e9});
    places_join(&places, host, second, &(struct place_link){16e9, 16e9, 0});
    check_moves(&places, &(struct moves){.all = {{host, first, 2000, 0, 120},
                                                 {host, second, 1200, 0, 80},
                                                 {first, host, 2000, 200, 320},
                                                 {second, host, 1200, 200, 280}},
                                         .count = 4,
                                         .tiers = true});
    assert_int_equal(places_route(&places, host, third, true).count, 0);
    assert_int_equal(places_route(&places, host, host, true).count, 0);
}

/* Without a fabric, bytes from GPU to GPU pass the host: out of one at 20 GB/s, into the other at
 * 16, of which a load beside them takes half. With one of 50 GB/s that has its link to itself. */
static void a_fabric_spares_the_host(void **state)
{
    (void)state;
    for (int fabric = 0; fabric < 2; fabric++) {
        struct places places = {.count = 0};
        int host = places_add(&places, TIER_HOST, 0);
        int first = places_add(&places, TIER_GPU, 0), second = places_add(&places, TIER_GPU, 0);
        places_join(&places, host, first, &(struct place_link){20e9, 20e9, 0});
        places_join(&places, host, second, &(struct place_link){16e9, 16e9, 0});
        if (fabric > 0) {
            places_join(&places, first, second, &(struct place_link){50e9, 50e9, 0});
        }
        check_moves(&places,
                    &(struct moves){.all = {{first, second, 800, 0, fabric > 0 ? 16 : 100},
                                            {host, second, 1600, 0, fabric > 0 ? 100 : 150}},
                                    .count = 2});
    }
}

/* Two servers on a network of 5 GB/s each way. The KV of a request, 300 tokens of 1000 bytes,
 * leaves one GPU at 20 GB/s and reaches the other at 10: alone it takes 60 us. After 10 us comes a
 * second request of as many tokens and shares the network: the first has 250 KB left then, and at
 * 2.5 GB/s ends 100 us later. The second has 50 KB left, alone on the network again. What goes the
 * other way has the network's other direction. */
static void kv_of_a_request_crosses_to_another_server(void **state)
{
    (void)state;
    struct places places = {.count = 0};
    const struct place_link link = {10e9, 20e9, 25e9}, network = {5e9, 5e9, 0};
    int here = places_add(&places, TIER_GPU, 0), host = places_add(&places, TIER_HOST, 0);
    int there = places_add(&places, TIER_GPU, 0), other = places_add(&places, TIER_HOST, 0);
    places_join(&places, host, here, &link);
    places_join(&places, other, there, &link);
    places_join(&places, host, other, &network);
    const double kv = 300 * 1000;
    assert_int_equal(places_route(&places, here, there, false).count, 5);
    check_moves(&places, &(struct moves){{{here, there, kv, 0, 110000},
                                          {host, other, kv, 10000, 120000},
                                          {there, here, kv, 0, 60000}},
                                         .count = 3});
}

/* ---- drawn at random ----------------------------------------------------------------------- */

static double draw_rate(gsl_rng *random)
{
    return (1 + gsl_rng_uniform(random) * 50) * 1e9;
}

/* Moves between any two places of two servers, each of two GPUs. */
static void all_bytes_arrive_once(void **state)
{
    (void)state;
    struct error why;
    gsl_rng *random = random_stream(8, "test.places", 0, &why);
    for (int round = 0; round < 500; round++) {
        struct places places = {.count = 0};
        struct moves moves = {.count = MOVES_MOST, .tiers = true};
        int64_t end_ns[MOVES_MOST];
        for (int i = 0; i < 6; i++) {
            bool is_host = i % 3 == 0;
            places_add(&places, is_host ? TIER_HOST : TIER_GPU, is_host ? draw_rate(random) : 0);
            int to = is_host ? 0 : i / 3 * 3; /* its host; of a host, the other one */
            const struct place_link link = {draw_rate(random), draw_rate(random),
                                            i == 1 ? draw_rate(random) : 0};
            if (i > 0) {
                places_join(&places, to, i, &link);
            }
        }
        for (uint32_t i = 0; i < MOVES_MOST; i++) {
            int from = (int)gsl_rng_uniform_int(random, 6);
            int by = 1 + (int)gsl_rng_uniform_int(random, 5);
            moves.all[i] = (struct move){from, (from + by) % 6, gsl_rng_uniform(random) * 1e6,
                                         (int64_t)gsl_rng_uniform_int(random, 50000), 0};
        }
        play(&places, &moves, end_ns);
        check_conservation(&places, &moves, end_ns);
    }
    gsl_rng_free(random);
}

/* ---- from a machine's file ----------------------------------------------------------------- */

static void a_machine_says_its_ways(void **state)
{
    (void)state;
    struct trust trust = {.basis = BASIS_MEASURED};
    struct profile profile = load("link: {h2d: 26GB/s, d2h: 24GB/s, duplex: 40GB/s,"
                                  " copy_latency: 2us}\n"
                                  "disk: {capacity: 4TB, read: 6GB/s, write: 3GB/s,"
                                  " latency: 80us}\n"
                                  "pool: {capacity: 1TB, read: 20GB/s}\n");
    const struct {
        enum way_id way;
        double bytes, there, back, both;
    } rows[] = {
        {WAY_IN, 0, 26e9, 24e9, 40e9},
        {WAY_DISK_IN, 4096, 6e9, 3e9, 0},
        {WAY_POOL_IN, 0, 20e9, 0, 0},
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
    assert_int_equal(trust.basis, BASIS_ASSUMED);
    profile_release(&profile);
}

/* A way back leads where the way came from, and rows name tiers that exist. */
static void every_way_has_a_way_back(void **state)
{
    (void)state;
    for (enum way_id id = 0; id < WAY_COUNT; id++) {
        const struct way_kind *way = &way_kinds[id], *back = &way_kinds[way->back];
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
        cmocka_unit_test(all_bytes_arrive_once),
        cmocka_unit_test(a_machine_says_its_ways),
        cmocka_unit_test(every_way_has_a_way_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
