/* Measurements beside predictions: read, compared and judged. */
#include "study/papers/validation.h"

#include "decode/replay/replay.h"
#include "unit/fixture/load_profile.h"
#include "unit/fixture/make_trace.h"

#include <math.h>

static const char machine[] =
    "{host: {cores: 2, dram_bandwidth: 1000GB/s, lookup: 10ns, update: 20ns,"
    " pool_wake: {points: [[1, 100ns], [2, 100ns]], basis: measured, source: x},"
    " gather: {points: [[1, 1GB/s], [2, 2GB/s]], basis: measured, source: x},"
    " attention: {points: [[1, 1GB/s], [2, 4GB/s]], basis: measured, source: x}}}";

enum { LAST = MINIATURE_STREAM + 1 }; /* of those that run on a host, which come first */

struct fixture {
    char folder[32], path[64];
    struct trace *trace;
    struct profile profile;
    struct miniature shape;
    double predicted[LAST];
    uint64_t wanted[LAST], missed[LAST];
};

static const struct miniature_stand_ins stand_ins = {
    .copies_whole = 10e9, .copies_rows = 5e9, .attends_whole = 1e9};

static void set_up(struct fixture *fixture)
{
    struct error why;
    struct trace_header header = make_header();
    make_trace(&header, make_path(make_folder(fixture->folder), "t.swt", fixture->path), 1);
    fixture->trace = trace_open(fixture->path, &why);
    fixture->profile = load_well(machine);
    fixture->shape = (struct miniature){.layers = 2,
                                        .kv_heads = 2,
                                        .query_heads = 4,
                                        .head_dim = 32,
                                        .context = 60,
                                        .repeat = 3,
                                        .selection = 0.2,
                                        .capacity = 0.3,
                                        .warmup = 3,
                                        .steps = 4,
                                        .threads = 2};
    for (int id = 0; id < LAST; id++) {
        struct ledger ledger;
        fixture->wanted[id] = fixture->missed[id] = 0;
        make_check(
            miniature_replay(&fixture->shape, (enum miniature_id)id, fixture->trace, &ledger, &why),
            &why);
        make_check(miniature_predict(&fixture->shape, (enum miniature_id)id, &fixture->profile,
                                     &stand_ins, &ledger, &fixture->predicted[id], &why),
                   &why);
        for (uint32_t i = 0; i < ledger.steps * ledger.layers; i++) {
            fixture->wanted[id] += ledger.rows[i].wanted;
            fixture->missed[id] += ledger.rows[i].missed;
        }
        ledger_release(&ledger);
    }
}

static void tear_down(struct fixture *fixture)
{
    profile_release(&fixture->profile);
    trace_close(fixture->trace);
    unlink(fixture->path);
    rmdir(fixture->folder);
}

#define FIGURE "\"median\":%.17g,\"p10\":%.17g,\"p90\":%.17g,\"samples\":9}\n"

static void print_figure(FILE *out, const char *kind, const char *name, double size, double value)
{
    fprintf(out, "{\"%s\":\"%s\",\"size\":%.17g," FIGURE, kind, name, size, value, value, value);
}

/* What a harness prints that measured each mechanism at so many times its prediction, and gathers
 * so many times as fast as the profile has it. */
static char *print_lines(const struct fixture *fixture, const double times[LAST], double spread,
                         double gathers, int last)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    print_figure(out, "curve", "host.gather", 1, gathers * 1e9);
    print_figure(out, "curve", "host.gather", 2, gathers * 2e9);
    print_figure(out, "curve", "host.lru_lookup", 12, 10);
    print_figure(out, "stand_in", "copies_whole", 0, stand_ins.copies_whole);
    print_figure(out, "stand_in", "copies_rows", 0, stand_ins.copies_rows);
    print_figure(out, "stand_in", "attends_whole", 0, stand_ins.attends_whole);
    for (int id = 0; id < last; id++) {
        double ns = fixture->predicted[id] * times[id];
        fprintf(out, "{\"mechanism\":\"%s\",\"wanted\":%llu,\"missed\":%llu,\"worst\":1e-7,",
                miniature_kinds[id].name, (unsigned long long)fixture->wanted[id],
                (unsigned long long)fixture->missed[id]);
        fprintf(out, FIGURE, ns, ns * (1 - spread), ns * (1 + spread));
    }
    fclose(out);
    return text;
}

static bool judge(const struct fixture *fixture, const char *lines, struct validation *out,
                  struct error *why)
{
    return validation_judge(&fixture->shape, fixture->trace, &fixture->profile, lines, out, why);
}

/* Measured 1.25 times as long is 20 % less predicted; 1.6 times, 37.5 % less. */
static void errors_are_held_against_gates(void **state)
{
    (void)state;
    struct fixture fixture;
    struct validation validation;
    struct error why;
    double times[LAST];
    set_up(&fixture);
    for (int id = 0; id < LAST; id++) {
        times[id] = 1;
    }
    times[0] = 1.24;
    times[1] = 1.6;
    char *lines = print_lines(&fixture, times, 0.05, 1, LAST);
    make_check(judge(&fixture, lines, &validation, &why), &why);
    free(lines);
    assert_int_equal(validation.rows[0].verdict, VALIDATION_MET);
    assert_float_equal(validation.rows[1].error, -0.375, 1e-9);
    assert_float_equal(validation.rows[1].gate, 0.2, 1e-9);
    assert_int_equal(validation.rows[1].verdict, VALIDATION_MISSED);
    assert_float_equal(validation.classes[MINIATURE_BY_CPU].median_error, 0, 1e-9);
    assert_int_equal(validation.classes[MINIATURE_BY_CPU].verdict, VALIDATION_MET);

    /* A spread of 39 %: 62.5 % of the median lies between the outer deciles, 61 and 139 %. */
    lines = print_lines(&fixture, times, 0.39, 1, LAST);
    make_check(judge(&fixture, lines, &validation, &why), &why);
    free(lines);
    assert_float_equal(validation.rows[1].gate, 0.78, 1e-9);
    assert_int_equal(validation.rows[1].verdict, VALIDATION_NOISE);
    assert_float_equal(validation.classes[MINIATURE_BY_CPU].median_gate, 0.78, 1e-9);
    tear_down(&fixture);
}

/* Gathers are twice as fast today: waking the first thread takes 100 ns as before. */
static void errors_are_those_of_today(void **state)
{
    (void)state;
    struct fixture fixture;
    struct validation validation;
    struct error why;
    double times[LAST];
    set_up(&fixture);
    for (int id = 0; id < LAST; id++) {
        times[id] = 1;
    }
    char *lines = print_lines(&fixture, times, 0, 2, LAST);
    make_check(judge(&fixture, lines, &validation, &why), &why);
    free(lines);
    const struct validation_row *gather = &validation.rows[MINIATURE_GATHER];
    double profiled = fixture.predicted[MINIATURE_GATHER];
    assert_true(fabs(gather->predicted - (100 + (profiled - 100) / 2)) < 2);
    assert_true(fabs(gather->error - (gather->predicted / profiled - 1)) < 1e-9);
    assert_float_equal(validation.rows[MINIATURE_MANAGER].error, 0, 1e-9);
    assert_int_equal(validation.curve_count, 2);
    assert_int_equal(validation.curves[0].id, CURVE_HOST_GATHER);
    assert_float_equal(validation.curves[0].change, 2, 1e-9);
    assert_float_equal(validation.curves[1].change, 1, 1e-9);
    tear_down(&fixture);
}

static void assert_refused(const struct fixture *fixture, const char *lines, const char *complaint)
{
    struct validation validation;
    struct error why;
    assert_false(judge(fixture, lines, &validation, &why));
    assert_non_null(strstr(why.found, complaint));
}

static void what_a_harness_may_not_say_is_refused(void **state)
{
    (void)state;
    struct fixture fixture;
    double times[LAST];
    set_up(&fixture);
    for (int id = 0; id < LAST; id++) {
        times[id] = 1;
    }
    char *lines = print_lines(&fixture, times, 0, 1, LAST - 1);
    assert_refused(&fixture, lines, "'stream'");
    free(lines);
    assert_refused(&fixture, "", "'manager'");
    assert_refused(&fixture, "hello\n", "'hello'");
    const char *figure = "\"size\":1,\"median\":1,\"p10\":1,\"p90\":1,\"samples\":1}\n";
    char line[256];
    snprintf(line, sizeof line, "{\"curve\":\"host.x\",%s", figure);
    assert_refused(&fixture, line, "host.x");
    snprintf(line, sizeof line, "{\"stand_in\":\"x\",%s", figure);
    assert_refused(&fixture, line, "stand_in");
    assert_refused(&fixture, "{\"mechanism\":\"lru\"}\n", "\"lru\"");
    tear_down(&fixture);
}

/* It has failed, and the others are judged. */
static void a_mechanism_that_counts_otherwise_has_failed(void **state)
{
    (void)state;
    struct fixture fixture;
    struct validation validation;
    struct error why;
    double times[LAST];
    char reason[128];
    set_up(&fixture);
    for (int id = 0; id < LAST; id++) {
        times[id] = 1;
    }
    unsigned long long missed = fixture.missed[0]++, wanted = fixture.wanted[0];
    snprintf(reason, sizeof reason, "it missed %llu of %llu tokens, a replay %llu of %llu",
             missed + 1, wanted, missed, wanted);
    char *lines = print_lines(&fixture, times, 0, 1, LAST);
    make_check(judge(&fixture, lines, &validation, &why), &why);
    assert_string_equal(validation.rows[0].absent, reason);
    assert_true(validation.rows[0].failed);
    assert_false(validation.rows[1].failed);
    assert_int_equal(validation.rows[1].verdict, VALIDATION_MET);
    free(lines);
    tear_down(&fixture);
}

/* A machine may lack what one mechanism needs: it has no figure, and says why. */
static void what_cannot_run_is_absent(void **state)
{
    (void)state;
    struct fixture fixture;
    struct validation validation;
    struct error why;
    double times[LAST];
    set_up(&fixture);
    for (int id = 0; id < LAST; id++) {
        times[id] = 1;
    }
    char *lines = print_lines(&fixture, times, 0, 1, LAST - 1);
    size_t size = strlen(lines) + 64;
    char *all = malloc(size);
    snprintf(all, size, "%s{\"absent\":\"stream\",\"reason\":\"no copy engine\"}\n", lines);
    make_check(judge(&fixture, all, &validation, &why), &why);
    assert_false(validation_ran(&validation, MINIATURE_STREAM));
    assert_true(validation_has(&validation, MINIATURE_STREAM));
    assert_string_equal(validation.rows[MINIATURE_STREAM].absent, "no copy engine");
    assert_false(validation.rows[MINIATURE_STREAM].failed);
    snprintf(all, size, "%s{\"failed\":\"stream\",\"reason\":\"it crashed\"}\n", lines);
    make_check(judge(&fixture, all, &validation, &why), &why);
    assert_string_equal(validation.rows[MINIATURE_STREAM].absent, "it crashed");
    assert_true(validation.rows[MINIATURE_STREAM].failed);
    assert_int_equal(validation.classes[MINIATURE_BY_CPU].count, LAST - 1);
    assert_refused(&fixture, "{\"absent\":\"full\",\"reason\":\"x\"}\n", "\"full\"");
    assert_refused(&fixture, "{\"absent\":\"x\",\"reason\":\"x\"}\n", "\"x\"");
    free(all);
    free(lines);
    tear_down(&fixture);
}

static struct model make_model(void)
{
    return (struct model){
        .name = "m", .layer_count = 2, .query_heads = 8, .kv_heads = 2, .head_dim = 64};
}

static void a_context_is_whole_recordings(void **state)
{
    (void)state;
    struct error why;
    char folder[32], path[64];
    struct trace_header header = make_header();
    struct profile profile = load_well(machine);
    struct model model = make_model();
    struct miniature shape;
    header.steps = 20;
    make_trace(&header, make_path(make_folder(folder), "t.swt", path), 1);
    struct trace *trace = trace_open(path, &why);
    make_check(validation_shape(&model, trace, &profile, MINIATURE_HOST, 41, &shape, &why), &why);
    assert_int_equal(shape.context, 60);
    assert_int_equal(shape.repeat, 3);
    assert_int_equal(shape.threads, 2);

    model.kv_lora = 512;
    assert_false(validation_shape(&model, trace, &profile, MINIATURE_HOST, 41, &shape, &why));
    assert_non_null(strstr(why.found, "'m' keeps latent"));
    model.kv_lora = 0;
    assert_false(
        validation_shape(&model, trace, &profile, MINIATURE_HOST, UINT32_MAX, &shape, &why));
    assert_non_null(strstr(why.found, "4294967295 tokens"));
    trace_close(trace);
    unlink(path);

    header.steps = 19;
    make_trace(&header, path, 1);
    trace = trace_open(path, &why);
    assert_false(validation_shape(&model, trace, &profile, MINIATURE_HOST, 41, &shape, &why));
    assert_string_equal(why.found, "19 steps, with queries");
    trace_close(trace);
    profile_release(&profile);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_held_against_gates),
        cmocka_unit_test(errors_are_those_of_today),
        cmocka_unit_test(what_a_harness_may_not_say_is_refused),
        cmocka_unit_test(a_mechanism_that_counts_otherwise_has_failed),
        cmocka_unit_test(what_cannot_run_is_absent),
        cmocka_unit_test(a_context_is_whole_recordings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
