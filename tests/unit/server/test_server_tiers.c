/* A server over three tiers: schedules worked by hand. Every prompt has 300 tokens, of which 2 blocks
 * of 128 are kept below the GPU; they take 256 KB. A step takes 10 ms. The link carries 1 GB/s each
 * way, and a transfer takes 1 ms to start. The disk reads 0.5 GB/s and writes 0.25, after 3 ms. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "unit/fixture/server_course.h"

#include <math.h>

static const struct test_way ways[] = {{1e9, 1e9, 2e9}, {0.5e9, 0.25e9, 0}};

/* A prompt by its letter, and when it comes. */
struct prompt {
    char letter;
    int64_t at_ms;
};

static struct course make_course(const struct prompt *prompts, uint32_t count, uint64_t host_blocks,
                                 enum prefix_write to_disk)
{
    static uint32_t chunks[8];
    static struct request_chunk kinds[4];
    struct error why;
    struct course course = begin_course(count);
    const struct policy_kind *lru = policy_find("lru", NULL, 0, &why);
    course.prefix.lower_count = 2;
    course.prefix.lower[0] =
        (struct prefix_tier){.blocks = host_blocks, .policy = lru, .takes_loads = true};
    course.prefix.lower[1] = (struct prefix_tier){.blocks = 8, .policy = lru, .write = to_disk};
    course.prefix.saves_wait = course.options.saves_cross = true;
    course.options.token_bytes = 1000;
    course.load.unit = course.save.unit = MS;
    course.disk.unit = 3 * MS;
    course.ways = ways;
    course.way_count = 2;
    course.clock = (struct plain_clock){.fixed_ns = 10 * MS, .load_rate = 1e9};
    for (uint32_t i = 0; i < count; i++) {
        add_request(&course, prompts[i].at_ms * MS, 300, 1);
        chunks[i] = (uint32_t)(prompts[i].letter - 'A');
        course.requests.all[i].first_chunk = i;
        course.requests.all[i].chunks = 1;
    }
    for (int i = 0; i < 4; i++) {
        kinds[i] = (struct request_chunk){UINT32_MAX, 300, 0};
    }
    course.requests.chunks = chunks;
    course.requests.chunk_count = count;
    course.requests.kind = kinds;
    course.requests.chunk_tokens = CHUNK;
    course.requests.ids.count = 4;
    return course;
}

static void stop_course(struct course *course)
{
    course->requests.chunks = NULL;
    course->requests.kind = NULL;
    end_course(course);
}

/* Found in a tier, and ended. */
static void check_found(const struct course *course, uint32_t index, int tier, int64_t end_ns)
{
    const struct served *served = &course->served[index];
    for (int k = 0; k < PREFIX_MOST_TIERS; k++) {
        assert_int_equal(served->match.found[k], k == tier ? 256 : 0);
    }
    assert_int_equal(served->end_ns, end_ns);
}

/* A ends at 10 ms, is on the host at 11.256 and on the disk at 15.28. B takes its place on the host.
 * The second A comes from the disk, in 3 + 0.512 ms, and takes B's place there; the third comes from
 * the host, in 1 + 0.256. B comes from the disk. */
static void what_the_host_evicts_the_disk_still_has(void **state)
{
    (void)state;
    const struct prompt prompts[] = {{'A', 0}, {'B', 50}, {'A', 100}, {'A', 150}, {'B', 200}};
    struct course course = make_course(prompts, 5, 2, PREFIX_WRITE_FILL);
    run_course(&course);
    check_found(&course, 0, -1, 10 * MS);
    check_found(&course, 1, -1, 60 * MS);
    check_found(&course, 2, 2, 113512000);
    check_found(&course, 3, 1, 161256000);
    check_found(&course, 4, 2, 213512000);
    assert_true(fabs(series_sum(&course, SERIES_LOADED) - 3 * 256000) < 1e-6);
    assert_true(fabs(series_sum(&course, SERIES_SAVED) - 4 * 256000) < 1e-6);
    stop_course(&course);
}

/* B takes A's place on the host at 60 ms. Only then A is written to the disk, in 3 + 1.024 ms: too
 * late for who comes at 64, and there for who comes at 65. */
static void what_is_handed_on_takes_its_time(void **state)
{
    (void)state;
    for (int64_t ms = 64; ms <= 65; ms++) {
        const struct prompt prompts[] = {{'A', 0}, {'B', 50}, {'A', ms}};
        struct course course = make_course(prompts, 3, 2, PREFIX_WRITE_EVICT);
        run_course(&course);
        check_found(&course, 2, ms == 65 ? 2 : -1, ms == 65 ? 78512000 : 74 * MS);
        stop_course(&course);
    }
}

/* A is on the disk, C on the host: of a link of 0.8 GB/s each gets a half, less than the disk could
 * give, and takes 0.64 ms after a start of 1 ms. */
static void loads_from_two_tiers_share_the_link(void **state)
{
    (void)state;
    static const struct test_way slower[] = {{0.8e9, 1e9, 0}, {0.5e9, 0.25e9, 0}};
    const struct prompt prompts[] = {{'A', 0}, {'B', 50}, {'C', 100}, {'A', 150}, {'C', 150}};
    struct course course = make_course(prompts, 5, 4, PREFIX_WRITE_FILL);
    course.ways = slower;
    course.disk.unit = MS;
    run_course(&course);
    check_found(&course, 3, 2, 161640000);
    check_found(&course, 4, 1, 161640000);
    stop_course(&course);
}

/* Layer by layer: what the host has is loaded under the step; for what the disk has its request waits, and
 * others run meanwhile. The second A finds 2 blocks on the host: each of 2 layers takes half of 1.256 ms, so
 * a step of 10 ends 0.628 later. After B and C, which take its place there, the third comes from the disk, in
 * 3 + 0.512, and then computes; D, which comes just after it, runs first. */
static void only_the_host_is_loaded_under_a_step(void **state)
{
    (void)state;
    const struct prompt prompts[] = {{'A', 0},   {'A', 50},  {'B', 100},
                                     {'C', 150}, {'A', 200}, {'D', 201}};
    struct course course = make_course(prompts, 6, 2, PREFIX_WRITE_FILL);
    course.options.layers = 2;
    course.options.layered_tiers = 1;
    run_course(&course);
    check_found(&course, 1, 1, 60628000);
    check_found(&course, 4, 2, 221000000);
    check_found(&course, 5, -1, 211000000);
    stop_course(&course);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_host_evicts_the_disk_still_has),
        cmocka_unit_test(what_is_handed_on_takes_its_time),
        cmocka_unit_test(loads_from_two_tiers_share_the_link),
        cmocka_unit_test(only_the_host_is_loaded_under_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
