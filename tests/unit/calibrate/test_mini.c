/* The miniature runtime: what it counts and what comes out, never how long it takes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "calibrate/host/topology.h"
#include "calibrate/mini/check.h"
#include "calibrate/mini/mini.h"
#include "decode/replay/ledger.h"
#include "unit/fixture/make_trace.h"

#include <math.h>

struct fixture {
    char folder[32], path[64];
    struct trace *trace;
    struct mini mini;
    struct policy_env env;
};

/* Four layers of two heads each over two recorded ones, so that heads read with shifts. */
static void set_up(struct fixture *fixture)
{
    struct error why;
    struct topology topology;
    struct trace_header header = make_header();
    assert_true(topology_init(&topology, "", &why));
    struct miniature shape = {.layers = 4,
                              .kv_heads = 3,
                              .query_heads = 6,
                              .head_dim = 32,
                              .context = 80,
                              .repeat = 4,
                              .selection = 0.2,
                              .capacity = 0.3,
                              .warmup = 3,
                              .steps = 4,
                              .threads = topology.cores};
    topology_release(&topology);
    make_trace(&header, make_path(make_folder(fixture->folder), "t.swt", fixture->path), 1);
    fixture->trace = trace_open(fixture->path, &why);
    assert_non_null(fixture->trace);
    make_check(mini_init(&fixture->mini, &shape, fixture->trace, &why), &why);
    fixture->env = mini_env(&shape, fixture->trace);
}

static void tear_down(struct fixture *fixture)
{
    mini_release(&fixture->mini);
    trace_close(fixture->trace);
    unlink(fixture->path);
    rmdir(fixture->folder);
}

static struct mini_check start_check(const struct fixture *fixture)
{
    return (struct mini_check){.mini = &fixture->mini, .env = &fixture->env};
}

/* All layers of all steps take some time. */
static void play(struct mini *mini, enum miniature_id id, struct mini_counts *counts)
{
    double ns[4 * 4] = {0};
    mini_play(mini, id, ns, counts);
    for (uint32_t slot = 0; slot < mini->shape.steps * mini->shape.layers; slot++) {
        assert_true(ns[slot] > 0);
    }
}

static void every_mechanism_counts_and_attends_as_the_simulator_says(void **state)
{
    (void)state;
    struct fixture fixture;
    struct error why;
    set_up(&fixture);
    struct mini_check check = start_check(&fixture);
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        if (miniature_kinds[id].site != fixture.mini.shape.site) {
            continue;
        }
        struct mini_counts counts;
        struct ledger ledger;
        uint64_t wanted = 0, missed = 0;
        double worst;
        for (int again = 0; again < 2; again++) {
            make_check(mini_start(&fixture.mini, (enum miniature_id)id, &fixture.env, &why), &why);
            play(&fixture.mini, (enum miniature_id)id, &counts);
            make_check(mini_check(&check, (enum miniature_id)id, &worst, &why), &why);
        }
        make_check(miniature_replay(&fixture.mini.shape, (enum miniature_id)id, fixture.trace,
                                    &ledger, &why),
                   &why);
        for (uint32_t i = 0; i < ledger.steps * ledger.layers; i++) {
            wanted += ledger.rows[i].wanted;
            missed += ledger.rows[i].missed;
        }
        ledger_release(&ledger);
        assert_true(counts.agrees);
        assert_int_equal(counts.wanted, wanted);
        assert_int_equal(counts.missed, missed);
        assert_true(missed > 0 && worst < 1e-5);
    }
    mini_check_release(&check);
    tear_down(&fixture);
}

/* A row of values of the cache is another one's: of a token that hits in the last step. */
static void a_wrong_row_shows(void **state)
{
    (void)state;
    struct fixture fixture;
    struct error why;
    struct mini_counts counts;
    double worst;
    set_up(&fixture);
    struct mini *mini = &fixture.mini;
    struct mini_check check = start_check(&fixture);
    make_check(mini_start(mini, MINIATURE_CPU_ATTENTION, &fixture.env, &why), &why);
    play(mini, MINIATURE_CPU_ATTENTION, &counts);
    make_check(mini_check(&check, MINIATURE_CPU_ATTENTION, &worst, &why), &why);
    uint32_t row = mini_head_demand(&mini_heads(mini, 3)[2], 3)->ordered[0];
    char *value = mini->layers[3].kv.bytes + (row + mini->row_count) * mini->row_bytes;
    memcpy(value, value + (row > 0 ? -(ptrdiff_t)mini->row_bytes : (ptrdiff_t)mini->row_bytes),
           mini->row_bytes);
    play(mini, MINIATURE_CPU_ATTENTION, &counts);
    assert_false(mini_check(&check, MINIATURE_CPU_ATTENTION, &worst, &why));
    assert_non_null(strstr(why.found, "'cpu-attention'"));
    mini_check_release(&check);
    tear_down(&fixture);
}

/* Played a second time without a new start, LRU finds rows that the first pass fetched, which is
 * right, and the caches' order is another. Spoiled rows of a cache that holds them are not. */
static void a_row_that_was_not_fetched_shows(void **state)
{
    (void)state;
    struct fixture fixture;
    struct error why;
    struct mini_counts counts;
    double worst;
    set_up(&fixture);
    struct mini *mini = &fixture.mini;
    struct mini_check check = start_check(&fixture);
    make_check(mini_start(mini, MINIATURE_LRU, &fixture.env, &why), &why);
    for (uint32_t l = 0; l < mini->shape.layers; l++) {
        memset(mini->layers[l].cache.bytes, 0xff, mini->layers[l].cache.size);
    }
    play(mini, MINIATURE_LRU, &counts);
    assert_true(counts.missed < counts.wanted);
    assert_false(mini_check(&check, MINIATURE_LRU, &worst, &why));
    assert_true(worst == INFINITY);
    mini_check_release(&check);
    tear_down(&fixture);
}

static void a_spec_is_checked(void **state)
{
    (void)state;
    struct error why;
    struct mini_broken broken = {0};
    assert_false(mini_measure("{", &broken, stdout, &why));
    assert_int_equal(broken.running, -1);
    assert_false(mini_measure("{\"trace\": 3}", &broken, stdout, &why));
    assert_non_null(strstr(why.found, "a miniature's spec"));
    assert_int_equal(why.kind, ERROR_USAGE);
}

/* A mechanism that broke an earlier run is not run again, and its reason is passed on. */
static void what_broke_an_earlier_run_is_left_out(void **state)
{
    (void)state;
    static const char spec[] =
        "{\"trace\":\"traces/smollm2-135m.swt\",\"gpu\":false,\"seconds\":0.01,\"layers\":1,"
        "\"kv_heads\":2,\"query_heads\":2,\"head_dim\":32,\"hidden\":64,\"repeat\":1,"
        "\"selection\":0.02,\"capacity\":0.1,\"warmup\":1,\"steps\":1,\"threads\":2}";
    struct mini_broken broken = {0};
    struct error why;
    char *lines = NULL;
    size_t size;
    FILE *out = open_memstream(&lines, &size);
    assert_non_null(out);
    snprintf(broken.reason[MINIATURE_LRU], sizeof broken.reason[0], "it crashed");
    make_check(mini_measure(spec, &broken, out, &why), &why);
    assert_int_equal(fclose(out), 0);
    assert_non_null(strstr(lines, "{\"failed\":\"lru\",\"reason\":\"it crashed\"}\n"));
    assert_null(strstr(lines, "{\"mechanism\":\"lru\","));
    assert_non_null(strstr(lines, "{\"mechanism\":\"fetch\","));
    assert_int_equal(broken.running, -1);
    free(lines);
}

static const struct {
    const char *what;
    struct miniature shape;
} impossible[] = {
    {"no heads",
     {.layers = 1, .head_dim = 32, .repeat = 1, .selection = 0.1, .capacity = 0.3, .steps = 1}},
    {"uneven groups",
     {.layers = 1,
      .kv_heads = 2,
      .query_heads = 3,
      .head_dim = 32,
      .repeat = 1,
      .selection = 0.1,
      .capacity = 0.3,
      .steps = 1}},
    {"odd heads",
     {.layers = 1,
      .kv_heads = 2,
      .query_heads = 4,
      .head_dim = 33,
      .repeat = 1,
      .selection = 0.1,
      .capacity = 0.3,
      .steps = 1}},
    {"negative layers",
     {.layers = (uint32_t)-1,
      .kv_heads = 2,
      .query_heads = 4,
      .head_dim = 32,
      .repeat = 1,
      .selection = 0.1,
      .capacity = 0.3,
      .steps = 1}},
    {"no context",
     {.layers = 1,
      .kv_heads = 2,
      .query_heads = 4,
      .head_dim = 32,
      .selection = 0.1,
      .capacity = 0.3,
      .steps = 1}},
    {"too many rows",
     {.layers = 1,
      .kv_heads = 2,
      .query_heads = 4,
      .head_dim = 32,
      .repeat = 1u << 30,
      .selection = 0.1,
      .capacity = 0.3,
      .steps = 1}},
    {"no steps",
     {.layers = 1,
      .kv_heads = 2,
      .query_heads = 4,
      .head_dim = 32,
      .repeat = 1,
      .selection = 0.1,
      .capacity = 0.3}},
    {"too many steps",
     {.layers = 1,
      .kv_heads = 2,
      .query_heads = 4,
      .head_dim = 32,
      .repeat = 1,
      .selection = 0.1,
      .capacity = 0.3,
      .warmup = 4,
      .steps = 4}},
    {"more than is kept",
     {.layers = 1,
      .kv_heads = 2,
      .query_heads = 4,
      .head_dim = 32,
      .repeat = 1,
      .selection = 0.5,
      .capacity = 0.6,
      .steps = 1}},
    {"no such machine",
     {.layers = 1,
      .kv_heads = 2,
      .query_heads = 4,
      .head_dim = 32,
      .repeat = 1,
      .selection = 0.1,
      .capacity = 0.3,
      .steps = 1,
      .threads = 1 << 20}},
};

static void what_cannot_be_run_is_refused(void **state)
{
    (void)state;
    char folder[32], path[64];
    struct error why;
    struct trace_header header = make_header();
    make_trace(&header, make_path(make_folder(folder), "t.swt", path), 1);
    struct trace *trace = trace_open(path, &why);
    for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++) {
        struct mini mini;
        struct miniature shape = impossible[i].shape;
        shape.context = (uint64_t)header.units * shape.repeat;
        if (mini_init(&mini, &shape, trace, &why)) {
            fail_msg("%s", impossible[i].what);
        }
        mini_release(&mini);
    }
    trace_close(trace);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mechanism_counts_and_attends_as_the_simulator_says),
        cmocka_unit_test(a_wrong_row_shows),
        cmocka_unit_test(a_row_that_was_not_fetched_shows),
        cmocka_unit_test(a_spec_is_checked),
        cmocka_unit_test(what_broke_an_earlier_run_is_left_out),
        cmocka_unit_test(what_cannot_be_run_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
