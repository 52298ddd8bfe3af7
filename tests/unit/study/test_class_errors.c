/* How far off a class is, and how its band is tested: each row against those of other papers on
 * other machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "study/papers/class_errors.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8 };

/* A row of a whole step; `paper` and `machine` are letters. Of a capital paper's table a figure was
 * used. */
struct published_figure {
    char paper, machine;
    double error; /* predicted over published, less 1 */
};

/* A comparison of bandwidth-bound systems, built by hand. */
struct made {
    struct comparison comparison;
    struct paper papers[MOST];
    struct paper_row said[MOST];
    char titles[MOST][2];
};

static void make(const struct published_figure *known, struct made *out)
{
    *out = (struct made){.comparison = {.rows = calloc(MOST, sizeof *out->comparison.rows),
                                        .runs = calloc(MOST, sizeof *out->comparison.runs)}};
    for (uint32_t i = 0; i < MOST && known[i].paper != '\0'; i++) {
        struct comparison_row *row = &out->comparison.rows[i];
        bool used = known[i].paper < 'a';
        out->titles[i][0] = used ? (char)(known[i].paper - 'A' + 'a') : known[i].paper;
        out->papers[i] = (struct paper){.title = out->titles[i], .used = used};
        out->said[i] = (struct paper_row){.least = 1, .most = 1};
        out->said[i].take = (struct formula){.terms = {{.column = COLUMN_STEP}}, .count = 1};
        *row = (struct comparison_row){.paper = &out->papers[i],
                                       .row = &out->said[i],
                                       .class_name = error_band_names[CLASS_BANDWIDTH_BOUND],
                                       .tolerance = 0.1,
                                       .error = known[i].error,
                                       .verdict = fabs(known[i].error) <= 0.1 ? VERDICT_MET
                                                                              : VERDICT_MISSED};
        memset(row->runs, 0xff, sizeof row->runs);
        row->runs[PAPER_RUN] = i;
        out->comparison.runs[i].point.setup.profile.name[0] = known[i].machine;
        out->comparison.row_count++;
    }
}

static void release(struct made *made)
{
    free(made->comparison.rows);
    free(made->comparison.runs);
}

static struct class_errors errors_of(const struct published_figure *known)
{
    struct made made;
    struct class_errors errors;
    struct error why;
    make(known, &made);
    assert_true(class_errors_of_band(&made.comparison, CLASS_BANDWIDTH_BOUND, &errors, &why));
    release(&made);
    return errors;
}

static const struct {
    const char *what;
    struct published_figure known[MOST];
    double factor, median;
    uint32_t tested, inside;
} cases[] = {
    {"too long and too short count alike: 1.25 and 1.25",
     {{'a', 'm', 0.25}, {'a', 'm', -0.2}},
     1.25,
     1.25,
     0,
     0},
    {"the mean of two logarithms: 1 and 1.21", {{'a', 'm', 0}, {'a', 'm', 0.21}}, 1.21, 1.1, 0, 0},
    {"other papers, other machines: 1.1 and 1.2 in 1.2, 1.2 in 1.3, 1.3 not",
     {{'a', 'm', 0.1}, {'a', 'm', 0.2}, {'b', 'n', 0.3}},
     1.3,
     1.2,
     3,
     2},
    {"one paper on two machines", {{'a', 'm', 0.1}, {'a', 'n', 0.2}}, 1.2, 0, 0, 0},
    {"two papers on one machine", {{'a', 'm', 0.1}, {'b', 'm', 0.2}}, 1.2, 0, 0, 0},
    {"a third paper tests the first two, and they test it",
     {{'a', 'm', 0.1}, {'b', 'm', 0.5}, {'c', 'n', 0.3}},
     1.5,
     1.3,
     3,
     2},
    {"a table that gave a figure tests the others and is not tested",
     {{'A', 'm', 0.1}, {'b', 'n', 0.05}, {'b', 'n', 0.3}},
     1.3,
     1.1,
     2,
     1},
    {"nothing", {{0}}, 0, 0, 0, 0},
};

static void bands_are_tested_on_rows_they_never_saw(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct class_errors errors = errors_of(cases[i].known);
        bool median = cases[i].median == 0 || fabs(errors.median - cases[i].median) < 1e-9;
        if (fabs(errors.band.factor - cases[i].factor) > 1e-9 || !median ||
            errors.tested != cases[i].tested || errors.inside != cases[i].inside) {
            fail_msg("%s: %g, median %g, %u of %u", cases[i].what, errors.band.factor,
                     errors.median, errors.inside, errors.tested);
        }
    }
}

static void a_band_stands_if_it_held_half_of_them(void **state)
{
    static const struct class_errors untested = {.tested = 0}, half = {.tested = 2, .inside = 1},
                                     fewer = {.tested = 3, .inside = 1};
    (void)state;
    assert_false(class_errors_band_stands(&untested));
    assert_true(class_errors_band_stands(&half));
    assert_false(class_errors_band_stands(&fewer));
}

static void a_band_that_tells_nothing_does_not_stand(void **state)
{
    static const struct class_errors twice = {.band.factor = 2, .tested = 2, .inside = 2},
                                     wider = {.band.factor = 2.01, .tested = 2, .inside = 2};
    (void)state;
    assert_true(class_errors_band_stands(&twice));
    assert_true(class_errors_band_held(&wider));
    assert_false(class_errors_band_stands(&wider));
}

/* Rows of a server of experts, papers a, b and c: TTFT on 4 m, 8 m and 4 n, off by 1.1, 1.5 and 1.3.
 * m's GPUs exchange at 100 bytes a ns, n's at 10. */
static void make_servers(struct made *made)
{
    static const struct published_figure known[MOST] = {
        {'a', 'm', 0.1}, {'b', 'm', 0.5}, {'c', 'n', 0.3}};
    static struct model_layer layer = {.routed = true};
    static double size[2] = {1, 1 << 30}, fast[2] = {0.01, (1 << 30) / 100.0},
                  slow[2] = {0.1, (1 << 30) / 10.0};
    make(known, made);
    for (int i = 0; i < 3; i++) {
        struct setup *setup = &made->comparison.runs[i].point.setup;
        struct model *model = &setup->model;
        made->said[i].served = true;
        made->said[i].figure = BAND_TTFT;
        made->said[i].take = formula_of_column(COLUMN_TTFT_P50);
        model->layers = &layer;
        model->layer_count = 1;
        model->tensor_parallel = i == 1 ? 8 : 4;
        model->parallel = (struct model_parallel){.data = 1, .experts = 1, .pipeline = 1};
        setup->profile.curves[CURVE_GPU_COLLECTIVE] =
            (struct curve){.size = size, .value = i < 2 ? fast : slow, .count = 2};
    }
}

static struct class_errors errors_of_server(const struct made *made, struct band_server server)
{
    struct class_errors errors;
    struct error why;
    assert_true(
        class_errors_of_band(&made->comparison, error_band_of_server(server), &errors, &why));
    return errors;
}

/* Any figure of a server makes its band, a median too; machines are named with their GPUs, and two
 * numbers of one GPU are one machine in the test. */
static void a_servers_figures_make_its_band(void **state)
{
    struct made made;
    struct band_server server = {.experts = true, .figure = BAND_TTFT};
    (void)state;
    make_servers(&made);
    struct class_errors errors = errors_of_server(&made, server);
    assert_int_equal(errors.band.rows, 3);
    assert_string_equal(errors.band.machines, "4 m, 8 m, 4 n");
    assert_true(fabs(errors.band.factor - 1.5) < 1e-9);
    assert_int_equal(errors.papers, 3);
    assert_int_equal(errors.tested, 3); /* 1.1 and 1.5 in 1.3, 1.3 in 1.5 */
    assert_int_equal(errors.inside, 2);
    server.figure = BAND_TPOT;
    assert_int_equal(errors_of_server(&made, server).band.rows, 0);
    server = (struct band_server){.figure = BAND_TTFT};
    assert_int_equal(errors_of_server(&made, server).band.rows, 0);
    assert_string_equal(errors.band.systems, "");
    release(&made);
}

/* Systems that keep all in HBM and attend to all of it are one; a selection makes another. */
static void a_band_names_the_systems_of_its_rows(void **state)
{
    const struct published_figure known[MOST] = {{'a', 'm', 0.1}, {'b', 'm', 0.5}, {'c', 'n', 0.3}};
    struct made made;
    struct class_errors errors;
    struct error why;
    (void)state;
    make(known, &made);
    for (int i = 0; i < 3; i++) {
        struct setup *setup = &made.comparison.runs[i].point.setup;
        snprintf(setup->system.name, sizeof setup->system.name, "%c", 'p' + i);
        setup->mechanisms = (struct mechanisms){.resident_heads = RESIDENT_ALL,
                                                .weights = i == 2 ? 0.5 : 1,
                                                .selection = {.unit = UNIT_SHARE, .value = 1}};
    }
    made.comparison.runs[1].point.setup.mechanisms.selection.value = 0.1;
    assert_true(class_errors_of_band(&made.comparison, CLASS_BANDWIDTH_BOUND, &errors, &why));
    assert_string_equal(errors.band.systems, "full attention, q, r");
    assert_true(error_band_covers_system(&errors.band, "q"));
    assert_false(error_band_covers_system(&errors.band, "p"));
    release(&made);
}

/* By class of machine; two papers on one machine test nothing, one paper makes no band. */
static void a_class_of_machines_has_its_own_rows(void **state)
{
    struct made made;
    struct band_server server = {.experts = true, .figure = BAND_TTFT, .machines = BAND_NVLINK};
    (void)state;
    make_servers(&made);
    struct class_errors errors = errors_of_server(&made, server);
    assert_string_equal(errors.band.machines, "4 m, 8 m");
    assert_int_equal(errors.tested, 0);
    assert_true(class_errors_tell(error_band_of_server(server), &errors));
    server.machines = BAND_PCIE;
    errors = errors_of_server(&made, server);
    assert_string_equal(errors.band.machines, "4 n");
    assert_false(class_errors_tell(error_band_of_server(server), &errors));
    release(&made);
}

/* Where half of the requests wait longer than they are computed, TPOT has a band and TTFT none. */
static void a_saturated_server_has_rows_of_its_own(void **state)
{
    struct made made;
    struct band_server server = {.experts = true, .figure = BAND_TTFT, .load = BAND_SATURATED};
    (void)state;
    make_servers(&made);
    struct cell *cells = made.comparison.runs[2].result.cells;
    cells[COLUMN_QUEUE_P50] = (struct cell){.set = true, .integer = 900};
    cells[COLUMN_TTFT_P50] = (struct cell){.set = true, .integer = 1000};
    cells[COLUMN_TPOT_P50] = (struct cell){.set = true, .integer = 10};
    assert_int_equal(errors_of_server(&made, server).band.rows, 0);
    made.said[2].figure = server.figure = BAND_TPOT;
    assert_string_equal(errors_of_server(&made, server).band.machines, "4 n");
    server = (struct band_server){.experts = true, .figure = BAND_TTFT};
    assert_string_equal(errors_of_server(&made, server).band.machines, "4 m, 8 m");
    release(&made);
}

static void a_place_is_that_of_its_server(void **state)
{
    (void)state;
    for (int place = SYSTEM_CLASS_COUNT; place < ERROR_BAND_COUNT; place++) {
        assert_int_equal(error_band_of_server(error_band_server(place)), place);
    }
    const struct band_server server = {BAND_SATURATED, true, BAND_PCIE, BAND_TPOT};
    assert_string_equal(error_band_names[error_band_of_server(server)],
                        "saturated MoE server TPOT (PCIe)");
}

static void rows_of_other_classes_count_there(void **state)
{
    const struct published_figure known[MOST] = {{'a', 'm', 0.1}};
    struct made made;
    struct class_errors errors;
    struct error why;
    (void)state;
    make(known, &made);
    assert_true(class_errors_of_band(&made.comparison, CLASS_CPU_MANAGED, &errors, &why));
    assert_int_equal(errors.rows, 0);
    assert_int_equal(errors.band.rows, 0);
    assert_true(
        class_errors_of(&made.comparison, error_band_names[CLASS_BANDWIDTH_BOUND], &errors, &why));
    assert_int_equal(errors.rows, 1);
    assert_true(fabs(errors.median - 1.1) < 1e-9);
    release(&made);
}

static void ends_of_a_band_are_reciprocal(void **state)
{
    double ends[2];
    (void)state;
    error_band_ends(&(struct error_band){.factor = 1.25}, ends);
    assert_true(fabs(ends[0] + 0.2) < 1e-12 && fabs(ends[1] - 0.25) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bands_are_tested_on_rows_they_never_saw),
        cmocka_unit_test(a_band_stands_if_it_held_half_of_them),
        cmocka_unit_test(a_band_that_tells_nothing_does_not_stand),
        cmocka_unit_test(a_servers_figures_make_its_band),
        cmocka_unit_test(a_class_of_machines_has_its_own_rows),
        cmocka_unit_test(a_saturated_server_has_rows_of_its_own),
        cmocka_unit_test(a_place_is_that_of_its_server),
        cmocka_unit_test(a_band_names_the_systems_of_its_rows),
        cmocka_unit_test(rows_of_other_classes_count_there),
        cmocka_unit_test(ends_of_a_band_are_reciprocal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
