/* Axes: the values that a text stands for, and what cannot be one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/whatif/axis.h"
#include "unit/fixture/fault.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A scenario of one point, and its plan: 30 % of 3840 tokens held in 24 MiB. */
struct fixture {
    struct scenario scenario;
    struct point point;
    struct plan plan;
    struct axis_base base;
};

static const char *const overrides[] = {
    "model=smollm2-135m",
    "hardware=a40",
    "system=retroinfer-10pct",
    "context=3840",
    "hbm_usable=90%",
    "mechanisms.budget=3x",
    "batch=4",
    "host_memory=256GiB",
};

static int start(void **state)
{
    static struct fixture fixture;
    struct error why;
    uint32_t count = sizeof overrides / sizeof overrides[0];
    if (!scenario_load(NULL, 0, overrides, count, &fixture.scenario, &why) ||
        !scenario_point(&fixture.scenario, 0, &fixture.point, &why)) {
        fprintf(stderr, "%s\n", why.found);
        return -1;
    }
    fixture.plan = (struct plan){
        .batch = 4,
        .memory.in = {[TIER_GPU] = {.cache = 24 << 20}, [TIER_HOST] = {.kv = 80 << 20}}};
    fixture.base = (struct axis_base){.option = "--over",
                                      .scenario = &fixture.scenario,
                                      .point = &fixture.point,
                                      .plan = &fixture.plan,
                                      .most_batch = 20};
    *state = &fixture;
    return 0;
}

static int stop(void **state)
{
    struct fixture *fixture = *state;
    point_release(&fixture->point);
    scenario_release(&fixture->scenario);
    return 0;
}

/* The values as a scenario takes them, with a blank between; a * stands behind the own one. */
static const char *list(const struct axis *axis, char text[1024])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < axis->count; i++) {
        used += (size_t)snprintf(text + used, 1024 - used, "%s%s%s", i > 0 ? " " : "",
                                 axis->values[i].text, axis->values[i].own ? "*" : "");
    }
    return text;
}

static const struct {
    const char *text;
    uint32_t points;
    const char *key, *values;
} cases[] = {
    /* 1 and 20, and three between in ratios of 20^(1/4) = 2.115: 2.1, 4.5, 9.5; its own 4 */
    {"batch", 5, "batch", "1 2 4* 9 20"},
    /* five doublings are as many as 20 takes: ratios of 20^(1/5) = 1.82 */
    {"batch", 0, "batch", "1 2 3 4* 6 11 20"},
    {"batch=1:16", 5, "batch", "1 2 4* 8 16"},
    {"batch=16:1", 5, "batch", "1 2 4* 8 16"},
    /* what takes any number is not counted, however its ends are written */
    {"time_scale=1:4", 3, "time_scale", "1 2 4"},
    {"time_scale=1:2", 3, "time_scale", "1 1.41 2"},
    {"batch=1:3", 9, "batch", "1 2 3"}, /* whole numbers, each once */
    {"batch=10:20", 12, "batch", "10 11 12 13 14 15 16 17 18 19 20"},
    {"tensor_parallel", 0, "tensor_parallel", "1* 2 4 8"},
    {"batch=[7, 4, 5]", 0, "batch", "4* 5 7"},
    {"context", 3, "context", "480tok 1920tok 3840tok* 7680tok"},
    {"context=1K:4K", 3, "context", "1024tok 2048tok 4096tok"},
    {"context=0:1000", 3, "context", "0tok 500tok 1000tok"}, /* equal steps from 0 */
    /* a quarter of 90 % in ratios of 2.108 to the whole, for there are no shares above it */
    {"hbm_usable", 3, "hbm_usable", "22.5% 47.4% 90%* 100%"},
    {"mechanisms.selection=1%:100%", 3, "mechanisms.selection", "1% 10%* 100%"},
    {"selection=[10%, 20%]", 0, "mechanisms.selection", "10%* 20%"},
    {"granularity", 3, "mechanisms.granularity", "4tok 16tok* 64tok"},
    {"host_memory", 3, "host_memory", "68719476736B 256GiB* 1099511627776B"},
    {"hardware.link.h2d", 3, "hardware.link.h2d", "6500000000B/s 26000000000B/s* 104000000000B/s"},
    {"link=[pcie4-x16, pcie5-x16]", 0, "hardware.link", "pcie4-x16 pcie5-x16"},
    {"link", 0, "hardware.link", "pcie3-x16 pcie4-x16 pcie5-x16 pcie6-x16 nvlink-c2c"},
    {"system=[clo, retroinfer-10pct]", 0, "system", "clo retroinfer-10pct*"},
    {"budget=[1x, 3x]", 0, "mechanisms.budget", "1x 3x*"},
    {"budget=[10%, 3x]", 0, "mechanisms.budget", "10% 3x*"}, /* no unit in common: as they stand */
    /* nothing, a hundredth to all, its own */
    {"budget", 4, "mechanisms.budget", "0% 1% 10% 3x* 100%"},
};

static void a_text_stands_for_values(void **state)
{
    const struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct axis_base base = fixture->base;
        struct axis axis;
        struct error why = {.found = ""};
        char text[1024];
        base.points = cases[i].points;
        if (!axis_read(cases[i].text, strlen(cases[i].text), &base, &axis, &why)) {
            fail_msg("%s: %s", cases[i].text, why.found);
        }
        assert_string_equal(axis.key, cases[i].key);
        if (strcmp(list(&axis, text), cases[i].values) != 0) {
            fail_msg("%s: %s, not %s", cases[i].text, text, cases[i].values);
        }
        axis_release(&axis);
    }
}

/* As many as 256 GiB, of which a 64th are 4. */
static void unsaid_host_memory_is_walked_up_to_the_machines(void **state)
{
    const struct fixture *fixture = *state;
    struct axis_base base = fixture->base;
    struct point point = fixture->point;
    struct plan plan = fixture->plan;
    struct axis axis;
    struct error why;
    char text[1024];
    point.setup.room[TIER_HOST] = 0;
    plan.limit[TIER_HOST] = (uint64_t)256 << 30;
    base.point = &point;
    base.plan = &plan;
    base.points = 3;
    assert_true(axis_read("host_memory", 11, &base, &axis, &why));
    assert_string_equal(list(&axis, text), "4294967296B 34359738368B none*");
    axis_release(&axis);
}

static void what_needs_quotes_is_swept_in_them(void **state)
{
    const struct fixture *fixture = *state;
    static const char text[] = "trace=['./a, b.swt', './]\".swt', {c: d}]";
    static const char *const found[] = {"./a, b.swt", "./]\".swt", NULL};
    struct scenario swept = {.root = fixture->scenario.root, .points = 1};
    struct axis axis;
    struct error why;
    assert_true(axis_read(text, strlen(text), &fixture->base, &axis, &why));
    assert_true(axis_sweep(&axis, &swept, &why));
    const struct node *values = node_get(swept.sweep, "trace");
    assert_int_equal(values->count, 3);
    for (size_t i = 0; found[i] != NULL; i++) {
        assert_string_equal(values->children[i]->text, found[i]);
    }
    assert_string_equal(node_get(values->children[2], "c")->text, "d");
    node_destroy(swept.sweep);
    axis_release(&axis);
}

static const struct {
    const char *text, *fault; /* as fault_of() has it */
} refused[] = {
    {"bugdet", "--over 'bugdet' nearest 'mechanisms.budget'"},
    {"mechanisms.selectoin", "--over 'mechanisms.selectoin' nearest 'mechanisms.selection'"},
    {"hardware.link.h2", "--over 'hardware.link.h2' nearest 'hardware.link.h2d'"},
    {"link.h2d", "--over 'link.h2d' nearest 'hardware.link.h2d'"},
    {"sweep", "--over 'sweep' nearest 'seed'"},
    {"model", "--over 'model'"},
    {"hardware.gpu.topk", "--over 'a40' 'gpu.topk'"},
    {"kv_pool_tokens", "--over 'kv_pool_tokens'"},
    {"step_overhead", "--over 'mechanisms.step_overhead'"},
    {"batch=4", "--over 'batch' '4'"},
    {"batch=4:4", "--over 'batch' '4'"},
    {"batch=[]", "--over 'batch' ''"},
    {"batch=a:b", "--over 'a' 'batch'"},
    {"batch=1:", "--over '' 'batch'"},
    {"budget=1x:50%", "--over '1x:50%'"},
};

static void what_cannot_be_walked_is_refused(void **state)
{
    const struct fixture *fixture = *state;
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct axis axis;
        struct error why = {.found = ""};
        char fault[FAULT_SIZE];
        assert_false(
            axis_read(refused[i].text, strlen(refused[i].text), &fixture->base, &axis, &why));
        axis_release(&axis);
        assert_string_equal(fault_of(&why, fault), refused[i].fault);
        assert_int_equal(why.kind, ERROR_USAGE);
    }
}

static void too_many_values_are_refused(void **state)
{
    const struct fixture *fixture = *state;
    char text[8192] = "seed=[0";
    struct axis axis;
    struct error why;
    for (int i = 1; i <= AXIS_MOST_VALUES; i++) {
        size_t used = strlen(text);
        snprintf(text + used, sizeof text - used, ", %d", i);
    }
    strcat(text, "]");
    assert_false(axis_read(text, strlen(text), &fixture->base, &axis, &why));
    assert_string_equal(why.found, "'seed' has more than 1024 values");
    axis_release(&axis);
}

/* A search needs a rate at which each request is alone, whatever a request takes, and the rates that
 * people look at: in the ratios of those, from far below them to above. */
static void a_searched_rate_begins_where_each_request_is_alone(void **state)
{
    const struct fixture *fixture = *state;
    struct axis_base base = fixture->base;
    struct axis axis;
    struct error why;
    struct scenario served;
    struct point point;
    assert_true(scenario_copy(base.scenario, &served, &why));
    assert_true(node_set(served.root, "workload", "\"synthetic:prompt=1000,output=10\"", &why));
    scenario_values_remove(&served.values, "context");
    scenario_values_remove(&served.values, "batch");
    assert_true(scenario_point(&served, 0, &point, &why));
    base.scenario = &served;
    base.point = &point;
    base.points = AXIS_FINE;
    assert_true(axis_read("rate", 4, &base, &axis, &why));
    uint32_t eighth = 0;
    while (eighth < axis.count && axis.values[eighth].number < 0.125) {
        eighth++;
    }
    assert_true(axis.values[0].number < 2e-5 && axis.values[axis.count - 1].number > 1000);
    assert_string_equal(axis.values[eighth].text, "0.125");
    assert_string_equal(axis.values[eighth + AXIS_FINE - 1].text, "64");
    axis_release(&axis);
    point_release(&point);
    scenario_release(&served);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_stands_for_values),
        cmocka_unit_test(unsaid_host_memory_is_walked_up_to_the_machines),
        cmocka_unit_test(what_needs_quotes_is_swept_in_them),
        cmocka_unit_test(what_cannot_be_walked_is_refused),
        cmocka_unit_test(too_many_values_are_refused),
        cmocka_unit_test(a_searched_rate_begins_where_each_request_is_alone),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
