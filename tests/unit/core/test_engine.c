/* The engine: schedules worked by hand, and the ends of a run. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "core/random.h"
#include "core/stop_flag.h"
#include "core/engine/engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_JOBS = 6, MOST_AFTER = 3 };
enum { NO = -1 }; /* no resource, no route, no task */

/* The machine of all schedules: two resources, and a link of 10 units a nanosecond, crossed at weight 1 or 2,
 * or of which 4 are withheld, or 4 taken at the cap. */
enum { ONE, OTHER };
enum { LINK, LINK_TWICE, HOLD, SHARE };

struct job {
    int resource;
    int64_t fixed_ns;
    int after[MOST_AFTER]; /* from 1; 0 ends the list */
    double amount, cap;
    int route;
    int64_t start_ns, end_ns; /* what must come out */
    int binding;              /* from 1; 0 for none */
};

static const struct {
    const char *name;
    struct job jobs[MOST_JOBS];
} schedules[] = {
    {"one after the other",
     {{ONE, 5, {0}, 0, 0, NO, 0, 5, 0},
      {ONE, 3, {0}, 0, 0, NO, 5, 8, 1},
      {ONE, 2, {0}, 0, 0, NO, 8, 10, 2}}},
    {"what is late holds up those behind it",
     {{OTHER, 10, {0}, 0, 0, NO, 0, 10, 0},
      {ONE, 2, {1}, 0, 0, NO, 10, 12, 1},
      {ONE, 1, {0}, 0, 0, NO, 12, 13, 2}}},
    {"without a resource nothing queues",
     {{NO, 4, {0}, 0, 0, NO, 0, 4, 0},
      {NO, 3, {0}, 0, 0, NO, 0, 3, 0},
      {NO, 2, {1, 2}, 0, 0, NO, 4, 6, 1}}},
    {"among equals the lowest id",
     {{OTHER, 4, {0}, 0, 0, NO, 0, 4, 0},
      {NO, 4, {0}, 0, 0, NO, 0, 4, 0},
      {NO, 1, {2, 1}, 0, 0, NO, 4, 5, 1}}},
    {"before them the predecessor on the resource",
     {{OTHER, 4, {0}, 0, 0, NO, 0, 4, 0},
      {ONE, 4, {0}, 0, 0, NO, 0, 4, 0},
      {ONE, 1, {1}, 0, 0, NO, 4, 5, 2}}},
    {"named twice", {{OTHER, 4, {0}, 0, 0, NO, 0, 4, 0}, {ONE, 1, {1, 1}, 0, 0, NO, 4, 5, 1}}},
    {"no duration",
     {{ONE, 0, {0}, 0, 0, NO, 0, 0, 0},
      {ONE, 3, {0}, 0, 0, NO, 0, 3, 1},
      {ONE, 0, {0}, 0, 0, NO, 3, 3, 2},
      {OTHER, 0, {3}, 0, 0, NO, 3, 3, 3}}},
    {"fixed, then a flow: 3 + ceil(9.5)",
     {{ONE, 3, {0}, 95, INFINITY, LINK, 0, 13, 0}, {ONE, 1, {0}, 0, 0, NO, 13, 14, 1}}},
    {"two flows share the link, then one has it",
     {{ONE, 0, {0}, 50, INFINITY, LINK, 0, 10, 0}, {OTHER, 0, {0}, 100, INFINITY, LINK, 0, 15, 0}}},
    {"the second flow joins after its fixed time", /* 40 units in 4 ns, then 5 a ns */
     {{ONE, 0, {0}, 60, INFINITY, LINK, 0, 8, 0}, {OTHER, 4, {0}, 20, INFINITY, LINK, 0, 8, 0}}},
    {"a cap leaves the rest to others",
     {{ONE, 0, {0}, 20, 2, LINK, 0, 10, 0}, {OTHER, 0, {0}, 80, INFINITY, LINK, 0, 10, 0}}},
    {"no channel: the cap is the rate", {{ONE, 1, {0}, 20, 4, NO, 0, 6, 0}}},
    {"no channel and no cap: no time", {{ONE, 1, {0}, 20, INFINITY, NO, 0, 1, 0}}},
    {"weight 2 takes twice the link", {{ONE, 0, {0}, 50, INFINITY, LINK_TWICE, 0, 10, 0}}},
    {"at its cap it takes 4 of the link", /* 5 ns at 6, then at 10 */
     {{ONE, 0, {0}, 5, 1, SHARE, 0, 5, 0}, {OTHER, 0, {0}, 60, INFINITY, LINK, 0, 8, 0}}},
    {"below its cap in proportion", /* 12 are wanted of 10: each at 5/6 of its cap */
     {{ONE, 0, {0}, 10, 1, SHARE, 0, 12, 0},
      {OTHER, 0, {0}, 10, 1, SHARE, 0, 12, 0},
      {NO, 0, {0}, 10, 1, SHARE, 0, 12, 0}}},
    {"without a cap it takes nothing", {{ONE, 0, {0}, 1e9, INFINITY, SHARE, 0, 0, 0}}},
    {"withheld as long as served, its fixed time too", /* 10 ns at 6, then at 10 */
     {{ONE, 4, {0}, 6, 1, HOLD, 0, 10, 0}, {OTHER, 0, {0}, 80, INFINITY, LINK, 0, 12, 0}}},
    {"withheld twice", /* 6 ns at 2, 3 ns at 6 */
     {{ONE, 0, {0}, 6, 1, HOLD, 0, 6, 0},
      {OTHER, 0, {0}, 9, 1, HOLD, 0, 9, 0},
      {NO, 0, {0}, 30, INFINITY, LINK, 0, 9, 0}}},
};

static uint32_t index_of(int number)
{
    return number == NO ? ENGINE_NONE : (uint32_t)number;
}

static struct engine *make_machine(void)
{
    static const struct engine_route routes[] = {
        [LINK] = {.uses = {{0, 1.0, ENGINE_PER_UNIT}}, .count = 1},
        [LINK_TWICE] = {.uses = {{0, 2.0, ENGINE_PER_UNIT}}, .count = 1},
        [HOLD] = {.uses = {{0, 4.0, ENGINE_WITHHELD}}, .count = 1},
        [SHARE] = {.uses = {{0, 4.0, ENGINE_AT_CAP}}, .count = 1},
    };
    struct error why;
    struct engine *engine = engine_create(&why);
    assert_non_null(engine);
    assert_int_equal(engine_resource_add(engine, "one", &why), ONE);
    assert_int_equal(engine_resource_add(engine, "other", &why), OTHER);
    assert_int_equal(engine_channel_add(engine, 10.0), 0);
    for (uint32_t i = 0; i < sizeof routes / sizeof routes[0]; i++) {
        assert_int_equal(engine_route_add(engine, &routes[i], &why), i);
    }
    return engine;
}

static bool is_job(const struct job *job)
{
    static const struct job none;
    return memcmp(job, &none, sizeof none) != 0;
}

/* Submit the jobs, with their place as tag. */
static uint32_t submit_jobs(struct engine *engine, const struct job *jobs)
{
    struct error why;
    uint32_t count = 0;
    for (; count < MOST_JOBS && is_job(&jobs[count]); count++) {
        const struct job *job = &jobs[count];
        engine_task_id after[MOST_AFTER];
        struct engine_task task = {
            .resource = index_of(job->resource),
            .tag = count,
            .fixed_ns = job->fixed_ns,
            .amount = job->amount,
            .cap = job->cap,
            .route = index_of(job->route),
            .after = after,
        };
        while (task.after_count < MOST_AFTER && job->after[task.after_count] > 0) {
            after[task.after_count] = (engine_task_id)job->after[task.after_count] - 1;
            task.after_count++;
        }
        assert_int_equal(engine_submit(engine, &task, &why), count);
    }
    return count;
}

static void check_schedule(const struct engine *engine, const char *name, const struct job *jobs)
{
    for (engine_task_id id = 0; id < engine_task_count(engine); id++) {
        const struct engine_record *record = engine_task_record(engine, id);
        const struct job *job = &jobs[id];
        engine_task_id binding = job->binding > 0 ? (engine_task_id)job->binding - 1 : ENGINE_NONE;
        if (record->start_ns != job->start_ns || record->end_ns != job->end_ns ||
            record->binding != binding) {
            fail_msg("%s: task %u from %d to %d bound by %d, not from %d to %d by %d", name, id,
                     (int)record->start_ns, (int)record->end_ns, (int)record->binding,
                     (int)job->start_ns, (int)job->end_ns, (int)binding);
        }
    }
}

static void schedules_are_those_worked_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof schedules / sizeof schedules[0]; i++) {
        struct error why;
        struct engine *engine = make_machine();
        uint32_t count = submit_jobs(engine, schedules[i].jobs);
        assert_true(engine_run(engine, NULL, &why));
        assert_int_equal(engine_task_count(engine), count);
        check_schedule(engine, schedules[i].name, schedules[i].jobs);
        engine_destroy(engine);
    }
}

static void submit_fixed(struct engine *engine, uint32_t resource, uint32_t tag, int64_t fixed_ns)
{
    struct error why;
    struct engine_task task = {.resource = resource, .tag = tag, .fixed_ns = fixed_ns};
    assert_int_not_equal(engine_submit(engine, &task, &why), ENGINE_NONE);
}

static void a_raised_flag_ends_a_run(void **state)
{
    (void)state;
    enum { TASKS = 5000 };
    struct stop_flag stop = {false};
    struct error why;
    struct engine *engine = engine_create(&why);
    uint32_t resource = engine_resource_add(engine, "a", &why);
    for (uint32_t i = 0; i < TASKS; i++) {
        submit_fixed(engine, resource, i, 10);
    }
    atomic_store(&stop.raised, true);
    assert_false(engine_run(engine, &stop, &why));
    assert_string_equal(why.found, "interrupted");
    assert_true(engine_now(engine) < 10 * TASKS);
    atomic_store(&stop.raised, false);
    assert_true(engine_run(engine, &stop, &why)); /* and goes on */
    assert_int_equal(engine_now(engine), 10 * TASKS);
    engine_destroy(engine);
}

/* Each passes 2^62 ns in its own way. */
static const struct engine_task endless[] = {
    {.resource = ONE, .fixed_ns = INT64_MAX},
    {.resource = ONE, .amount = 1e300, .cap = 1e-3, .route = ENGINE_NONE},
    {.resource = ONE, .amount = 1e308, .cap = 1e-308, .route = LINK},
};

static void time_past_its_end_is_an_error(void **state)
{
    (void)state;
    struct error why;
    for (size_t i = 0; i < sizeof endless / sizeof endless[0]; i++) {
        struct engine *engine = make_machine();
        assert_int_equal(engine_submit(engine, &endless[i], &why), 0);
        assert_false(engine_run(engine, NULL, &why));
        assert_non_null(strstr(why.found, "2^62"));
        engine_destroy(engine);
    }
    struct engine *engine = make_machine();
    submit_fixed(engine, ONE, 0, ENGINE_LAST_NS);
    assert_true(engine_run(engine, NULL, &why));
    assert_int_equal(engine_now(engine), ENGINE_LAST_NS);
    engine_destroy(engine);
}

static void nothing_submitted_ends_at_once(void **state)
{
    (void)state;
    struct error why;
    struct engine *engine = make_machine();
    assert_true(engine_run(engine, NULL, &why));
    assert_int_equal(engine_now(engine), 0);
    assert_int_equal(engine_task_count(engine), 0);
    engine_destroy(engine);
    engine_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_are_those_worked_by_hand),
        cmocka_unit_test(a_raised_flag_ends_a_run),
        cmocka_unit_test(time_past_its_end_is_an_error),
        cmocka_unit_test(nothing_submitted_ends_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
