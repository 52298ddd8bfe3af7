/* Curves: at every size what a replay of that size misses, and streams of ids by brute force. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/replay/replay.h"
#include "decode/setup.h"
#include "study/sweep/miss_curve.h"
#include "unit/fixture/make_trace.h"
#include "unit/fixture/rounds.h"

#include <string.h>
#include <unistd.h>

static char folder[32];

static const struct policy_kind *kind(const char *name)
{
    struct error why;
    const struct policy_kind *found = policy_find(name, NULL, 0, &why);
    assert_non_null(found);
    return found;
}

static struct trace *open_random_trace(uint64_t seed)
{
    struct error why;
    char path[64];
    struct trace_header header = make_header();
    header.steps = 21;
    make_trace(&header, make_path(folder, "random.swt", path), seed);
    struct trace *trace = trace_open(path, &why);
    make_check(trace != NULL, &why);
    return trace;
}

/* Misses of a replay of both sequences at the size they were recorded, in units; of one group. */
static uint64_t replay_misses(const struct trace *trace, const struct miss_request *request,
                              uint32_t group, uint32_t size)
{
    struct error why;
    const struct trace_header *header = trace_header(trace);
    const uint32_t pairs_of[] = {[MISS_WHOLE] = 4, [MISS_LAYER] = 2, [MISS_HEAD] = 1};
    struct replay_head heads[4];
    for (uint32_t i = 0; i < 4; i++) {
        bool belongs = i / pairs_of[request->group] == group;
        heads[i] = (struct replay_head){.offloaded = belongs, .importance = 1};
    }
    struct replay_plan plan = {.layers = header->layers,
                               .kv_heads = header->kv_heads,
                               .batch = header->sequences,
                               .context = header->context,
                               .heads = heads,
                               .seed = SETUP_SEED,
                               .policy = request->policy,
                               .policy_values = request->values,
                               .order = request->order,
                               .selection = request->selection,
                               .capacity = (double)size / header->units,
                               .sinks = header->sinks,
                               .recent = header->recent,
                               .manager_unit = 1,
                               .starts_full = request->starts_full,
                               .warmup = request->warmup,
                               .steps = header->steps - request->warmup};
    struct ledger ledger;
    ledger_init(&ledger);
    make_check(replay_run(trace, &plan, 1, &ledger, &why), &why);
    uint64_t misses = ledger.demand_wanted - ledger.demand_hit;
    ledger_release(&ledger);
    return misses;
}

static void compare_with_replays(const struct trace *trace, const struct miss_request *request,
                                 uint64_t seed)
{
    struct error why;
    struct miss_curve curve;
    curve = (struct miss_curve){0};
    make_check(miss_curve_of_trace(trace, request, 2, &curve, &why), &why);
    uint32_t first = curve.groups > 1; /* behind the whole */
    for (uint32_t at = first * curve.count; at < curve.groups * curve.count; at++) {
        uint32_t group = at / curve.count - first, size = request->sizes[at % curve.count];
        uint64_t expected = replay_misses(trace, request, group, size);
        if (curve.misses[at] != expected) {
            fail_msg("%s, seed %u, grouping %d, group %u, size %u: misses %u, a replay %u",
                     request->policy->name, (unsigned)seed, (int)request->group, group, size,
                     (unsigned)curve.misses[at], (unsigned)expected);
        }
    }
    miss_curve_release(&curve);
}

/* Every policy, at every size that it takes; the whole, its layers and its heads. */
static void every_size_of_a_trace_equals_its_replay(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= ROUNDS(4, 1); seed++) {
        struct trace *trace = open_random_trace(seed);
        for (size_t p = 0; policies[p]; p++) {
            if (policies[p]->chooses_own) {
                continue;
            }
            uint32_t sizes[32], count = 0, least = policies[p]->needs_queries ? 4 : 0;
            for (uint32_t size = least; size <= trace_header(trace)->units; size++) {
                sizes[count++] = size;
            }
            struct miss_request request = {.policy = policies[p],
                                           .order = seed % 2 ? POLICY_BATCH : POLICY_SEQUENTIAL,
                                           .selection = .2,
                                           .starts_full = seed % 2 == 0,
                                           .warmup = seed % 3 == 0 ? 10 : 0,
                                           .sizes = sizes,
                                           .count = count};
            for (int group = MISS_WHOLE; group <= MISS_HEAD; group++) {
                request.group = (enum miss_group)group;
                compare_with_replays(trace, &request, seed);
            }
        }
        trace_close(trace);
    }
}

static void parameters_are_those_of_a_replay(void **state)
{
    (void)state;
    struct error why;
    struct trace *trace = open_random_trace(7);
    const uint32_t sizes[] = {4, 11, 20};
    double values[POLICY_MOST_PARAMS];
    uint64_t misses[2];
    struct miss_request request = {.values = values, .selection = .2, .sizes = sizes, .count = 3};
    for (int i = 0; i < 2; i++) {
        const char *text = i == 0 ? "{name: qsac, eta: 0.2, power: 1}" : "qsac";
        struct node *node = node_parse(text, strlen(text), "test", &why);
        make_check(node && policy_read(node, &request.policy, values, &why), &why);
        compare_with_replays(trace, &request, 7);
        misses[i] = replay_misses(trace, &request, 0, 20);
        node_destroy(node);
    }
    assert_int_not_equal(misses[0], misses[1]);
    trace_close(trace);
}

static void threads_do_not_change_a_curve(void **state)
{
    (void)state;
    struct error why;
    struct trace *trace = open_random_trace(9);
    const uint32_t sizes[] = {4, 9, 15};
    for (size_t p = 0; policies[p]; p++) {
        if (policies[p]->chooses_own) {
            continue;
        }
        struct miss_request request = {
            .policy = policies[p], .group = MISS_HEAD, .selection = .2, .sizes = sizes, .count = 3};
        struct miss_curve one, four;
        one = (struct miss_curve){0};
        four = (struct miss_curve){0};
        make_check(miss_curve_of_trace(trace, &request, 1, &one, &why), &why);
        make_check(miss_curve_of_trace(trace, &request, 4, &four, &why), &why);
        assert_memory_equal(one.accesses, four.accesses, sizeof(uint64_t) * 5);
        assert_memory_equal(one.misses, four.misses, sizeof(uint64_t) * 3 * 5);
        miss_curve_release(&one);
        miss_curve_release(&four);
    }
    trace_close(trace);
}

/* Ids below 60 that prefer small ones. */
static struct ids random_ids(uint64_t seed, uint32_t count)
{
    struct error why;
    struct ids ids = {.count = count, .blocks = 60, .block = malloc(count * sizeof *ids.block)};
    gsl_rng *random = random_stream(seed, "test.curve", 0, &why);
    assert_true(random != NULL && ids.block != NULL);
    for (uint32_t i = 0; i < count; i++) {
        double where = gsl_rng_uniform(random);
        ids.block[i] = (uint32_t)(where * where * 60);
    }
    gsl_rng_free(random);
    return ids;
}

/* LRU and OPT of one size with a list that is searched: the first leaves. */
static uint64_t search_misses(const struct ids *ids, uint32_t size, bool foresees)
{
    uint32_t list[64], held = 0;
    uint64_t misses = 0;
    for (uint32_t i = 0; i < ids->count; i++) {
        uint32_t at = 0;
        while (at < held && list[at] != ids->block[i]) {
            at++;
        }
        misses += at == held;
        if (at == held && held == size) {
            at = 0;
            for (uint32_t j = 0, furthest = 0; foresees && j < held; j++) {
                uint32_t next = i + 1;
                while (next < ids->count && ids->block[next] != list[j]) {
                    next++;
                }
                at = next > furthest ? j : at;
                furthest = next > furthest ? next : furthest;
            }
        }
        held += at == held;
        for (; at + 1 < held; at++) {
            list[at] = list[at + 1];
        }
        list[held - 1] = ids->block[i];
    }
    return misses;
}

static void curves_of_ids_equal_a_search(void **state)
{
    (void)state;
    struct error why;
    const uint32_t sizes[] = {1, 2, 5, 13, 30, 59, 60, 1000};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct ids ids = random_ids(seed, 2000);
        for (int foresees = 0; foresees < 2; foresees++) {
            struct miss_curve curve;
            struct miss_request request = {
                .policy = kind(foresees ? "opt" : "lru"), .sizes = sizes, .count = 8};
            curve = (struct miss_curve){0};
            make_check(miss_curve_of_ids(&ids, &request, 2, &curve, &why), &why);
            assert_int_equal(curve.accesses[0], 2000);
            for (uint32_t i = 0; i < 8; i++) {
                uint32_t size = sizes[i] < ids.blocks ? sizes[i] : ids.blocks;
                uint64_t expected = search_misses(&ids, size, foresees);
                if (curve.misses[i] != expected) {
                    fail_msg("%s, seed %u: %u blocks miss %u times, not %u", request.policy->name,
                             (unsigned)seed, sizes[i], (unsigned)curve.misses[i],
                             (unsigned)expected);
                }
            }
            miss_curve_release(&curve);
        }
        ids_release(&ids);
    }
}

static void what_cannot_be_drawn_is_refused(void **state)
{
    (void)state;
    struct error why;
    struct miss_curve curve;
    const uint32_t sizes[] = {3};
    struct trace *trace = open_random_trace(3);
    struct ids ids = random_ids(3, 10);
    struct miss_request request = {
        .policy = kind("qsac"), .selection = .2, .sizes = sizes, .count = 1};
    curve = (struct miss_curve){0};
    assert_false(miss_curve_of_trace(trace, &request, 1, &curve, &why));
    assert_string_equal(why.found, "policy 'qsac' has a cache of 3 blocks, but a head wants 4");
    assert_false(miss_curve_of_ids(&ids, &request, 1, &curve, &why));
    assert_string_equal(why.found, "policy 'qsac' compares queries, but the trace has no queries");
    request.policy = kind("heavy-hitter");
    assert_false(miss_curve_of_trace(trace, &request, 1, &curve, &why));
    assert_non_null(strstr(why.found, "policy 'heavy-hitter' never misses"));
    assert_false(miss_curve_of_ids(&ids, &request, 1, &curve, &why));
    request.policy = kind("lru");
    request.selection = .5;
    assert_false(miss_curve_of_trace(trace, &request, 1, &curve, &why));
    assert_string_equal(why.found, "a selection of 50 % needs 10 units a row");
    miss_curve_release(&curve);
    ids_release(&ids);
    trace_close(trace);
}

static int group_setup(void **state)
{
    (void)state;
    make_folder(folder);
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    char path[64];
    unlink(make_path(folder, "random.swt", path));
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_of_a_trace_equals_its_replay),
        cmocka_unit_test(parameters_are_those_of_a_replay),
        cmocka_unit_test(threads_do_not_change_a_curve),
        cmocka_unit_test(curves_of_ids_equal_a_search),
        cmocka_unit_test(what_cannot_be_drawn_is_refused),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
