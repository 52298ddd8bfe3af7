/* One layer of a schedule: bars worked out by hand, and what holds for every layer. */
#include "unit/fixture/expected_times.h"

#include "decode/time/pipeline.h"

#define FULL "mechanisms={resident_heads: all, operators: 8}"

/* The expected bar; `resource_id` as in pipe.h. */
struct expected_bar {
    enum pipe_resource resource_id;
    const char *stage;
    uint32_t layer;
    int64_t begin_ns, end_ns, path_ns;
};

static void take_layer(const struct setup *setup, const struct course *course, uint32_t layer,
                       struct layer_schedule *out)
{
    struct error why;
    if (!pipeline_layer(setup, &course->plan, course->used, 0, layer, out, &why)) {
        fail_msg("%s", message_of(&why));
    }
}

static void check_bars(const char *const *overrides, uint32_t layer, int64_t ns,
                       const struct expected_bar *expected, uint32_t count)
{
    struct setup setup = make_tiny(2, FULL, overrides);
    struct course course;
    struct layer_schedule schedule;
    make_course(&setup, &course);
    take_layer(&setup, &course, layer, &schedule);
    assert_int_equal(schedule.ns, ns);
    assert_int_equal(schedule.count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct layer_bar *bar = &schedule.bars[i];
        assert_int_equal(bar->resource_id, expected[i].resource_id);
        assert_string_equal(bar->stage, expected[i].stage);
        assert_int_equal(bar->layer, expected[i].layer);
        assert_int_equal(bar->begin_ns, expected[i].begin_ns);
        assert_int_equal(bar->end_ns, expected[i].end_ns);
        assert_int_equal(bar->path_ns, expected[i].path_ns);
    }
    layer_schedule_release(&schedule);
    course_release(&course);
    setup_release(&setup);
}

/*  launch  token 0-20000, L0 pre 20000-23000, attend 24000, post 28000,
 *          L1 pre 31000, attend 32000, post 36000, head 39000
 *  main    L0 pre 21000-49212, attend 57252, post 197672, L1 pre 225884, attend 233924, post 374344
 *
 * Layer 0 begins with its first kernel, which cuts the launches of pre. */
static void launches_run_ahead_of_the_first_layer(void **state)
{
    static const struct expected_bar expected[] = {
        {PIPE_LAUNCH, "pre", 0, 0, 2000, 0},          {PIPE_MAIN, "pre", 0, 0, 28212, 28212},
        {PIPE_LAUNCH, "attend", 0, 2000, 3000, 0},    {PIPE_LAUNCH, "post", 0, 3000, 7000, 0},
        {PIPE_LAUNCH, "pre", 1, 7000, 10000, 0},      {PIPE_LAUNCH, "attend", 1, 10000, 11000, 0},
        {PIPE_LAUNCH, "post", 1, 11000, 15000, 0},    {PIPE_LAUNCH, "head", 2, 15000, 18000, 0},
        {PIPE_MAIN, "attend", 0, 28212, 36252, 8040}, {PIPE_MAIN, "post", 0, 36252, 176672, 140420},
    };
    (void)state;
    check_bars(OVERRIDES(NULL), 0, 176672, expected, COUNT(expected));
}

/* A launch takes 100 us. Layer 1 lasts from 840240 to 1640240:
 *  launch  L0 post 599820-999820, L1 pre 1299820, attend 1399820, post 1799820
 *  main    L1 pre 1099820-1128032, attend 1399820-1407860, post 1499820-1640240
 *
 * The last kernel waited for the first launch of post, and that for all launches before it. */
static void slow_launches_are_the_critical_path(void **state)
{
    static const struct expected_bar expected[] = {
        {PIPE_LAUNCH, "post", 0, 0, 159580, 159580},
        {PIPE_LAUNCH, "pre", 1, 159580, 459580, 300000},
        {PIPE_MAIN, "pre", 1, 259580, 287792, 0},
        {PIPE_LAUNCH, "attend", 1, 459580, 559580, 100000},
        {PIPE_LAUNCH, "post", 1, 559580, 800000, 100000},
        {PIPE_MAIN, "attend", 1, 559580, 567620, 0},
        {PIPE_MAIN, "post", 1, 659580, 800000, 140420},
    };
    (void)state;
    check_bars(OVERRIDES("hardware.host.launch=100us"), 1, 800000, expected, COUNT(expected));
}

static int64_t sum_of(const int64_t numbers[BASIS_COUNT])
{
    int64_t sum = 0;
    for (int basis = 0; basis < BASIS_COUNT; basis++) {
        assert_true(numbers[basis] >= 0);
        sum += numbers[basis];
    }
    return sum;
}

/* Bars lie in the layer, in order; a resource does one thing at a time; critical path and bases add
 * up to the layer, and the bases of a bar to the bar. */
static void check_layer(const struct layer_schedule *schedule)
{
    int64_t free_ns[LAYER_RESOURCES] = {0}, path_ns = 0, begin_ns = 0;
    for (uint32_t i = 0; i < schedule->count; i++) {
        const struct layer_bar *bar = &schedule->bars[i];
        assert_true(bar->begin_ns >= begin_ns);
        assert_true(bar->end_ns > bar->begin_ns && bar->end_ns <= schedule->ns);
        assert_true(bar->resource == NULL || bar->begin_ns >= free_ns[bar->resource_id]);
        assert_true(bar->path_ns >= 0 && bar->path_ns <= bar->end_ns - bar->begin_ns);
        assert_int_equal(sum_of(bar->basis_ns), bar->end_ns - bar->begin_ns);
        free_ns[bar->resource_id] = bar->end_ns;
        begin_ns = bar->begin_ns;
        path_ns += bar->path_ns;
    }
    assert_int_equal(path_ns, schedule->ns);
    assert_int_equal(sum_of(schedule->basis_ns), schedule->ns);
}

static void every_layer_adds_up(void **state)
{
    static const char *const systems[] = {
        "system=fullattn", "system=retroinfer-10pct", "system=infinigen", "system=pqcache",
        "system=clo",      "system=litecache",        "system=deepspeed", "system=hgca",
        "system=flexgen"};
    (void)state;
    for (size_t i = 0; i < COUNT(systems); i++) {
        struct setup setup = SETUP("context=4000", "steps=1", "batch=2", systems[i]);
        struct course course;
        make_course(&setup, &course);
        for (uint32_t l = 0; l < course.plan.layers; l++) {
            struct layer_schedule schedule;
            take_layer(&setup, &course, l, &schedule);
            check_layer(&schedule);
            assert_int_equal(schedule.ns, course.timing.layer_ns[l]);
            layer_schedule_release(&schedule);
        }
        course_release(&course);
        setup_release(&setup);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_run_ahead_of_the_first_layer),
        cmocka_unit_test(slow_launches_are_the_critical_path),
        cmocka_unit_test(every_layer_adds_up),
    };
    return cmocka_run_group_tests(tests, enter_folder, leave_folder);
}
