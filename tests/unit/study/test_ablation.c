/* Ablations: savings and interaction of steps made by hand, and rows that are single runs. */
#include "unit/fixture/make_setup.h"

#include "predict/answer.h"
#include "study/ablate/ablation.h"

#include <math.h>

/* ---- by hand ---- */

enum { A = 1, B = 2, POINTS = 4 };

/* Two mechanisms that can each be had alone; steps of the base, of each and of both, 0: none. */
struct made {
    struct ablation ablation;
    struct ablation_row rows[6];
    uint32_t sets[POINTS];
    struct result results[POINTS];
};

/* What all studies of this program share. */
static struct run_context shared_runs;

static int begin(void **state)
{
    struct error unseen;
    (void)state;
    return run_context_init(&shared_runs, 16, NULL, &unseen) ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    run_context_release(&shared_runs);
    return 0;
}

static void make(struct made *made, const int64_t steps[POINTS])
{
    const struct ablation_row rows[] = {
        {.kind = ABLATION_BASE},
        {.kind = ABLATION_ALONE, .mechanism = 0, .shown = A, .with = A},
        {.kind = ABLATION_ALONE, .mechanism = 1, .shown = B, .with = B},
        {.kind = ABLATION_LEFT_OUT, .mechanism = 0, .shown = B, .without = B, .with = A | B},
        {.kind = ABLATION_LEFT_OUT, .mechanism = 1, .shown = A, .without = A, .with = A | B},
        {.kind = ABLATION_WHOLE, .shown = A | B, .with = A | B},
    };
    memcpy(made->rows, rows, sizeof rows);
    for (uint32_t i = 0; i < POINTS; i++) {
        made->sets[i] = i;
        result_init(&made->results[i]);
        if (steps[i] > 0) {
            result_integer(&made->results[i], COLUMN(step_us), steps[i]);
        }
    }
    made->ablation = (struct ablation){.rows = made->rows,
                                       .row_count = COUNT(rows),
                                       .sets = made->sets,
                                       .results = made->results,
                                       .done = POINTS};
    made->ablation.difference.count = 2;
    made->ablation.scenario.points = POINTS;
}

/* The base needs no trace and takes 9.8 ms; a takes 7.7, 7.5 and 10.0 ms with three families. */
static void a_saving_has_a_range_over_families(void **state)
{
    static const int64_t steps[POINTS] = {9800000, 7700000, 8800000, 5800000};
    static const double families[] = {7700, 7500, 10000}; /* us */
    (void)state;
    struct made made;
    double least, most;
    make(&made, steps);
    assert_false(ablation_range(&made.ablation, &made.rows[1], &least, &most));
    for (uint32_t i = 0; i < COUNT(families); i++) {
        made.results[A].families[i].values[COLUMN(step_us)->range - 1] = families[i];
    }
    made.results[A].family_count = COUNT(families);
    assert_true(ablation_range(&made.ablation, &made.rows[1], &least, &most));
    assert_true(fabs(least + 200000) < 1e-3 && fabs(most - 2300000) < 1e-3);
    made.results[A].families[1].values[COLUMN(step_us)->range - 1] = (double)NAN;
    assert_false(ablation_range(&made.ablation, &made.rows[1], &least, &most));
}

/* 9.8 ms; a alone saves 2.1, b alone 1.0, both 4.0: 0.9 ms come only together. */
static void what_the_sum_misses_is_the_interaction(void **state)
{
    static const int64_t steps[POINTS] = {9800000, 7700000, 8800000, 5800000};
    static const int64_t saves[] = {0, 2100000, 1000000, 3000000, 1900000, 4000000};
    (void)state;
    struct made made;
    struct ablation_sum sum;
    make(&made, steps);
    for (uint32_t i = 0; i < COUNT(saves); i++) {
        int64_t ns;
        double times;
        assert_true(ablation_saves(&made.ablation, &made.rows[i], &ns, &times));
        assert_int_equal(ns, saves[i]);
    }
    assert_true(ablation_add_up(&made.ablation, &sum));
    assert_int_equal(sum.alone_ns, 3100000);
    assert_int_equal(sum.interaction_ns, 900000);
    assert_near(sum.alone_times, 9.8 / 7.7 * 9.8 / 8.8, 1e-12);
    assert_near(sum.interaction_times, 9.8 / 5.8 / (9.8 / 7.7 * 9.8 / 8.8), 1e-12);
}

/* Both save the same 3 ms of waiting: the second to come saves nothing more. */
static void what_is_saved_twice_is_a_negative_interaction(void **state)
{
    static const int64_t steps[POINTS] = {10000001, 7000001, 7000001, 7000001};
    (void)state;
    struct made made;
    struct ablation_sum sum;
    make(&made, steps);
    assert_true(ablation_add_up(&made.ablation, &sum));
    assert_int_equal(sum.alone_ns, 6000000);
    assert_int_equal(sum.interaction_ns, -3000000);
}

static void without_a_step_nothing_adds_up(void **state)
{
    static const int64_t whole_only[POINTS] = {9000000, 0, 8000000, 5000000};
    (void)state;
    struct made made;
    struct ablation_sum sum;
    int64_t ns;
    double times;
    make(&made, whole_only);
    assert_false(ablation_saves(&made.ablation, &made.rows[1], &ns, &times));
    assert_false(ablation_saves(&made.ablation, &made.rows[4], &ns, &times));
    assert_true(ablation_saves(&made.ablation, &made.rows[5], &ns, &times));
    assert_int_equal(ns, 4000000);
    assert_false(ablation_add_up(&made.ablation, &sum));
    made.rows[2].refused = "it cannot be meant";
    assert_false(ablation_saves(&made.ablation, &made.rows[2], &ns, &times));
}

/* ---- what it buys instead ---- */

/* The second mechanism costs 0.2 of 9.8 ms, alone. It attends to 0.5 % more, takes 100 B less of
 * 1000 B of GPU memory, 2 us more work of the CPU, moves 30 B in place of 50, and takes 3 B more
 * of host memory. */
static void what_a_mechanism_buys_is_told_from_its_two_runs(void **state)
{
    static const int64_t steps[POINTS] = {9800000, 9849000, 10000000, 5800000};
    static const struct {
        double mass;
        int64_t hbm, dram, cpu, in, out;
    } of[] = {[0] = {0.95, 1000, 500, 4000, 40, 10}, [B] = {0.955, 900, 503, 6000, 25, 5}};
    const struct {
        const struct column *column;
        double more;
    } trades[] = {{COLUMN(mass_recall), 0.005},      {COLUMN(hbm_bytes), -100},
                  {COLUMN(dram_bytes), 3},           {COLUMN(cpu_us), 2},
                  {COLUMN(h2d_bytes_per_step), -15}, {COLUMN(d2h_bytes_per_step), -5}};
    (void)state;
    struct made made;
    make(&made, steps);
    for (uint32_t i = 0; i <= B; i += B) {
        result_real(&made.results[i], COLUMN(mass_recall), of[i].mass);
        result_integer(&made.results[i], COLUMN(hbm_bytes), of[i].hbm);
        result_integer(&made.results[i], COLUMN(dram_bytes), of[i].dram);
        result_integer(&made.results[i], COLUMN(cpu_us), of[i].cpu);
        result_integer(&made.results[i], COLUMN(h2d_bytes_per_step), of[i].in);
        result_integer(&made.results[i], COLUMN(d2h_bytes_per_step), of[i].out);
    }
    for (size_t i = 0; i < sizeof trades / sizeof *trades; i++) {
        assert_near(ablation_more(&made.ablation, &made.rows[2], trades[i].column), trades[i].more,
                    1e-12);
        assert_true(
            isnan(ablation_more(&made.ablation, &made.rows[1], trades[i].column))); /* A has none */
    }
}

/* The first costs 0.2 ms without the second, which needs it; together they save 4. */
static void what_needs_a_mechanism_counts_with_it(void **state)
{
    static const int64_t steps[POINTS] = {9800000, 10000000, 0, 5800000};
    (void)state;
    struct made made;
    int64_t ns;
    make(&made, steps);
    made.rows[3] = (struct ablation_row){.kind = ABLATION_LEFT_OUT, .others = B, .with = A};
    assert_true(ablation_together(&made.ablation, &made.rows[3], &ns));
    assert_int_equal(ns, 4000000);
    assert_false(ablation_together(&made.ablation, &made.rows[4], &ns)); /* no others */
    assert_false(ablation_together(&made.ablation, &made.rows[1], &ns)); /* nearest to the base */
}

/* ---- of systems ---- */

static const char *const usual[] = {"model=smollm2-135m", "hardware=a40", "context=3840",
                                    "steps=8"};

static void run_batch(const char *batch, const char *system, const char *against, uint32_t jobs,
                      struct ablation *out)
{
    const char *overrides[COUNT(usual) + 2];
    char text[64];
    struct scenario scenario;
    struct ablation_options options = {
        .study.runs = &shared_runs, .against = against, .study.jobs = jobs};
    struct error why;
    snprintf(text, sizeof text, "system=%s", system);
    memcpy(overrides, usual, sizeof usual);
    overrides[COUNT(usual)] = text;
    overrides[COUNT(usual) + 1] = batch;
    if (!scenario_load(NULL, 0, overrides, COUNT(overrides), &scenario, &why) ||
        !ablation_run(&scenario, &options, out, &why)) {
        fail_msg("%s: %s", system, message_of(&why));
    }
    scenario_release(&scenario);
}

static void run(const char *system, const char *against, uint32_t jobs, struct ablation *out)
{
    run_batch("batch=1", system, against, jobs, out);
}

/* One run by itself. */
static int64_t step_at(const char *batch, const char *system, const char *mechanisms)
{
    char name[64], over[256];
    snprintf(name, sizeof name, "system=%s", system);
    snprintf(over, sizeof over, "mechanisms=%s", mechanisms);
    const char *overrides[] = {usual[0], usual[1], usual[2], usual[3], "trace=smollm2-135m",
                               name,     over,     batch,    NULL};
    struct point point;
    struct result result;
    struct error why;
    struct run_context runs;
    make_runs(&runs, 1);
    if (!try_point(overrides, &point, &why) || !answer_run(&point, &runs, &result, &why)) {
        fail_msg("%s", message_of(&why));
    }
    int64_t step = result_cell(&result, COLUMN(step_us))->integer;
    result_release(&result);
    point_release(&point);
    run_context_release(&runs);
    return step;
}

static int64_t step_of(const char *system, const char *mechanisms)
{
    return step_at("batch=1", system, mechanisms);
}

static const struct ablation_row *find(const struct ablation *ablation, enum ablation_kind kind,
                                       const char *name)
{
    for (uint32_t i = 0; i < ablation->row_count; i++) {
        const struct ablation_row *row = &ablation->rows[i];
        if (row->kind == kind && row->refused == NULL &&
            strcmp(ablation->difference.mechanisms[row->mechanism].name, name) == 0) {
            return row;
        }
    }
    fail_msg("no row of '%s'", name);
    return NULL;
}

static void assert_saves(const struct ablation *ablation, const struct ablation_row *row,
                         int64_t expected)
{
    int64_t ns;
    double times;
    assert_true(ablation_saves(ablation, row, &ns, &times));
    assert_int_equal(ns, expected);
}

/* LiteCache against RetroInfer, each figure from runs that are written out here. */
static void savings_are_those_of_single_runs(void **state)
{
    (void)state;
    struct ablation ablation;
    run("litecache", "retroinfer-10pct", 2, &ablation);
    int64_t base = step_of("retroinfer-10pct", "{}"), whole = step_of("litecache", "{}");
    int64_t synced = step_of("retroinfer-10pct", "{sync: gpu, syncs: 0}");
    int64_t eager = step_of("litecache", "{launch: eager, launch_cost: 1x}");
    int64_t waiting = step_of("litecache", "{launch: eager, launch_cost: 1x, sync: cpu, syncs: 1}");
    assert_saves(&ablation, find(&ablation, ABLATION_ALONE, "sync"), base - synced);
    assert_saves(&ablation, find(&ablation, ABLATION_ALONE, "launch"),
                 synced - step_of("retroinfer-10pct", "{sync: gpu, syncs: 0, launch: graph}"));
    assert_saves(&ablation, find(&ablation, ABLATION_LEFT_OUT, "launch"), eager - whole);
    assert_saves(&ablation, find(&ablation, ABLATION_LEFT_OUT, "sync"), waiting - eager);
    assert_saves(&ablation, &ablation.rows[ablation.row_count - 1], base - whole);
    ablation_release(&ablation);
}

/* A system of an engine takes as long as by itself, whatever it is compared with. */
static void a_system_is_timed_by_its_engine(void **state)
{
    (void)state;
    struct ablation ablation;
    run("vllm", "fullattn", 2, &ablation);
    const struct ablation_row *whole = &ablation.rows[ablation.row_count - 1];
    uint32_t at = 0;
    while (ablation.sets[at] != whole->with) {
        at++;
    }
    assert_int_equal(result_cell(&ablation.results[at], COLUMN(step_us))->integer,
                     step_of("vllm", "{}"));
    ablation_release(&ablation);
}

/* A row for each mechanism alone and left out, the base first, the system last; and where that is
 * refused one more. */
static void what_is_refused_stands_in_the_table(void **state)
{
    static const char *const refused[] = {"policy",   "resident_heads", "prefetch",
                                          "transfer", "launch",         "policy",
                                          "manager",  "merge",          "sync"};
    (void)state;
    struct ablation ablation;
    run("litecache", NULL, 2, &ablation); /* against its baseline */
    assert_string_equal(ablation.base.name, "retroinfer-10pct");
    assert_int_equal(ablation.row_count, 2 + 2 * 12 + COUNT(refused));
    assert_int_equal(ablation.rows[0].kind, ABLATION_BASE);
    assert_int_equal(ablation.rows[ablation.row_count - 1].kind, ABLATION_WHOLE);
    size_t seen = 0;
    for (uint32_t i = 0; i < ablation.row_count; i++) {
        const struct ablation_row *row = &ablation.rows[i];
        if (row->refused != NULL) {
            assert_string_equal(ablation.difference.mechanisms[row->mechanism].name, refused[seen]);
            assert_true(strlen(row->refused) > 0);
            assert_int_equal(row->kind, seen < 5 ? ABLATION_ALONE : ABLATION_LEFT_OUT);
            seen++;
        }
    }
    assert_int_equal(seen, COUNT(refused));
    ablation_release(&ablation);
}

static void sum_and_interaction_are_what_the_system_saves(void **state)
{
    static const char *const pairs[][2] = {{"litecache", "retroinfer-10pct"}, {"hgca", "fullattn"}};
    (void)state;
    for (size_t i = 0; i < COUNT(pairs); i++) {
        struct ablation one, many;
        struct ablation_sum sum, same;
        int64_t saved;
        double times;
        run(pairs[i][0], pairs[i][1], 1, &one);
        run(pairs[i][0], pairs[i][1], 7, &many);
        assert_true(ablation_add_up(&one, &sum) && ablation_add_up(&many, &same));
        assert_true(ablation_saves(&one, &one.rows[one.row_count - 1], &saved, &times));
        assert_int_equal(sum.alone_ns + sum.interaction_ns, saved);
        assert_near(sum.alone_times * sum.interaction_times, times, 1e-9 * times);
        assert_int_equal(sum.alone_ns, same.alone_ns);
        assert_string_equal(one.name, many.name);
        ablation_release(&one);
        ablation_release(&many);
    }
}

/* Of HiSparse's 2048 tokens the recording keeps fewer: a system that cannot be run is no table. */
static void a_system_that_cannot_be_run_is_an_error(void **state)
{
    static const char *const systems[][2] = {{"hisparse", "clo"}, {"clo", "hisparse"}};
    static const char *const blamed[] = {"'hisparse' cannot run: a selection",
                                         "'hisparse' cannot run: a selection"};
    (void)state;
    for (size_t i = 0; i < COUNT(systems); i++) {
        char text[64];
        snprintf(text, sizeof text, "system=%s", systems[i][0]);
        const char *overrides[] = {usual[0], usual[1], usual[2], usual[3], text};
        struct ablation_options options = {
            .study.runs = &shared_runs, .against = systems[i][1], .study.jobs = 2};
        struct scenario scenario;
        struct ablation ablation;
        struct error why;
        assert_true(scenario_load(NULL, 0, overrides, COUNT(overrides), &scenario, &why));
        assert_false(ablation_run(&scenario, &options, &ablation, &why));
        assert_non_null(strstr(message_of(&why), blamed[i]));
        ablation_release(&ablation);
        scenario_release(&scenario);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saving_has_a_range_over_families),
        cmocka_unit_test(what_the_sum_misses_is_the_interaction),
        cmocka_unit_test(what_is_saved_twice_is_a_negative_interaction),
        cmocka_unit_test(without_a_step_nothing_adds_up),
        cmocka_unit_test(what_a_mechanism_buys_is_told_from_its_two_runs),
        cmocka_unit_test(what_needs_a_mechanism_counts_with_it),
        cmocka_unit_test(savings_are_those_of_single_runs),
        cmocka_unit_test(a_system_is_timed_by_its_engine),
        cmocka_unit_test(what_is_refused_stands_in_the_table),
        cmocka_unit_test(sum_and_interaction_are_what_the_system_saves),
        cmocka_unit_test(a_system_that_cannot_be_run_is_an_error),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
