/* Groups of the host, one sample of each probe: what they find, not how fast it was. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/host/groups.h"
#include "calibrate/host/topology.h"

#include <string.h>

static const struct effort one_sample = {"test", 0, 1, 1, 1, 0};

static struct findings findings;

static int measure_all(void **state)
{
    (void)state;
    for (const struct group *group = host_groups; group->name != NULL; group++) {
        struct error why;
        if (!group->run(&one_sample, 1, &findings, &why)) {
            print_error("%s: %s\n", group->name, why.found);
            return 1;
        }
    }
    return 0;
}

static int release(void **state)
{
    (void)state;
    findings_release(&findings);
    return 0;
}

static const struct finding *found(const char *name)
{
    const struct finding *finding = findings_get(&findings, name);
    if (finding == NULL) {
        print_error("%s was not found\n", name);
    }
    assert_non_null(finding);
    return finding;
}

/* A point at 1, 2, 4, ... and all logical CPUs. */
static void assert_by_threads(const struct finding *finding)
{
    struct topology topology;
    struct error why;
    uint32_t counts[TOPOLOGY_MOST_COUNTS];
    assert_true(topology_init(&topology, "", &why));
    assert_string_equal(finding->axis, "threads");
    assert_int_equal(finding->count, topology_thread_counts(topology.count, counts));
    for (uint32_t i = 0; i < finding->count; i++) {
        assert_int_equal(finding->points[i].size, counts[i]);
    }
    topology_release(&topology);
}

static void curves_of_the_host_that_need_no_gpu_are_found(void **state)
{
    (void)state;
    static const char *const by_threads[] = {"host.gather", "host.attention", "host.kmeans",
                                             "host.pool_wake"};
    static const char *const single[] = {"host.cores", "host.node_threads", "host.dram_capacity",
                                         "host.dram_bandwidth"};
    for (size_t i = 0; i < sizeof by_threads / sizeof by_threads[0]; i++) {
        assert_by_threads(found(by_threads[i]));
    }
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        assert_int_equal(found(single[i])->count, 1);
        assert_true(found(single[i])->points[0].size == 0);
    }
}

static void whatever_is_found_is_a_figure_and_says_how_it_was_taken(void **state)
{
    (void)state;
    assert_true(findings.count > 40);
    for (uint32_t i = 0; i < findings.count; i++) {
        const struct finding *finding = &findings.all[i];
        assert_true(finding->note[0] != '\0');
        assert_true(strlen(finding->note) + 1 < sizeof finding->note);
        for (uint32_t p = 0; p < finding->count; p++) {
            assert_true(finding->points[p].median > 0 && finding->points[p].samples >= 1);
        }
    }
}

static void bandwidth_is_the_most_that_was_read(void **state)
{
    (void)state;
    const struct finding *read = found("host.dram_read");
    double most = 0;
    for (uint32_t i = 0; i < read->count; i++) {
        most = read->points[i].median > most ? read->points[i].median : most;
    }
    assert_true(found("host.dram_bandwidth")->points[0].median == most);
}

static void lookup_and_update_go_by_the_units_that_a_head_wants(void **state)
{
    (void)state;
    static const double wanted[] = {384, 768, 3072, 12672};
    static const char *const curves[] = {"host.lru_lookup", "host.lru_update"};
    for (int c = 0; c < 2; c++) {
        const struct finding *curve = found(curves[c]);
        assert_string_equal(curve->axis, "units");
        assert_int_equal(curve->count, sizeof wanted / sizeof wanted[0]);
        for (uint32_t i = 0; i < curve->count; i++) {
            assert_true(curve->points[i].size == wanted[i]);
        }
    }
}

/* Beside the usual ranges of 32 MiB; longer ones where there is memory enough. */
static void gathers_go_by_the_span_of_a_heads_rows(void **state)
{
    (void)state;
    static const double spans[] = {2 << 20, 8 << 20, 32 << 20, 128 << 20};
    const struct finding *curve = found("host.gather_span");
    assert_string_equal(curve->axis, "bytes");
    assert_true(curve->count >= 3);
    for (uint32_t i = 0; i < curve->count; i++) {
        assert_true(curve->points[i].size == spans[i]);
    }
}

/* Of the presets whose caches the CPU manages: LRU, FIFO and LFU. */
static void every_policy_that_holds_units_is_measured(void **state)
{
    (void)state;
    assert_by_threads(found("policy.fifo.lookup"));
    assert_by_threads(found("policy.lfu.update"));
    assert_int_equal(found("policy.sieve.update_by_hits")->count, 4);
    assert_null(findings_get(&findings, "policy.none.lookup"));
    assert_null(findings_get(&findings, "policy.opt.lookup"));
    assert_null(findings_get(&findings, "policy.qsac.lookup"));
    assert_null(findings_get(&findings, "policy.prefix.lookup"));
}

static void shares_of_the_time_add_up(void **state)
{
    (void)state;
    double sum = 0;
    for (const struct group *group = host_groups; group->name != NULL; group++) {
        sum += group->share;
    }
    assert_true(sum > 0.999 && sum < 1.001);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(curves_of_the_host_that_need_no_gpu_are_found),
        cmocka_unit_test(whatever_is_found_is_a_figure_and_says_how_it_was_taken),
        cmocka_unit_test(bandwidth_is_the_most_that_was_read),
        cmocka_unit_test(lookup_and_update_go_by_the_units_that_a_head_wants),
        cmocka_unit_test(gathers_go_by_the_span_of_a_heads_rows),
        cmocka_unit_test(every_policy_that_holds_units_is_measured),
        cmocka_unit_test(shares_of_the_time_add_up),
    };
    return cmocka_run_group_tests(tests, measure_all, release);
}
