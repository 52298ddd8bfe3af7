/* Figures of a hardware profile: values read off curves, and the message of every mistake. */
#include "unit/fixture/fault.h"
#include "unit/fixture/load_profile.h"

static void refuse(const char *text, struct error *why)
{
    struct profile profile;
    if (load(text, &profile, why)) {
        profile_release(&profile);
        fail_msg("accepted: %s", text);
    }
}

/* ---- values ---------------------------------------------------------------------------------- */

static const char sort[] =
    "gpu: {topk: {points: [[100, 10us], [300, 50us], [400, 50us], [600, 20us]],"
    " basis: published, source: s}}";

static void value_is_linear_between_points(void **state)
{
    static const struct {
        double size, ns;
        bool extrapolated;
    } cases[] = {
        {100, 10000, false}, {101, 10200, false}, {200, 30000, false}, {300, 50000, false},
        {350, 50000, false}, {500, 35000, false}, {600, 20000, false},
    };
    (void)state;
    struct profile profile = load_well(sort);
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct trust trust = {.basis = BASIS_MEASURED};
        double ns = profile_value(&profile, CURVE_GPU_TOPK, cases[i].size, &trust);
        assert_float_equal(ns, cases[i].ns, 1e-6);
        assert_false(trust.extrapolated);
        assert_int_equal(trust.basis, BASIS_PUBLISHED);
    }
    profile_release(&profile);
}

static void value_past_an_end_is_that_of_the_end_and_marked(void **state)
{
    (void)state;
    struct profile profile = load_well(sort);
    struct trust below = {.basis = BASIS_MEASURED};
    struct trust above = {.basis = BASIS_MEASURED};
    assert_float_equal(profile_value(&profile, CURVE_GPU_TOPK, 99, &below), 10000, 0);
    assert_float_equal(profile_value(&profile, CURVE_GPU_TOPK, 1e12, &above), 20000, 0);
    assert_true(below.extrapolated);
    assert_true(above.extrapolated);
    profile_release(&profile);
}

static void one_value_holds_at_every_size(void **state)
{
    (void)state;
    struct profile profile = load_well("gpu: {topk: {value: 7us, basis: measured, source: s}}");
    struct trust trust = {.basis = BASIS_MEASURED};
    assert_float_equal(profile_value(&profile, CURVE_GPU_TOPK, 1, &trust), 7000, 0);
    assert_float_equal(profile_value(&profile, CURVE_GPU_TOPK, 1e9, &trust), 7000, 0);
    assert_false(trust.extrapolated);
    profile_release(&profile);
}

static void sizes_of_a_bytes_axis_carry_units(void **state)
{
    (void)state;
    struct profile profile = load_well("gpu: {hbm_share: {points: [[1KiB, 10%], [3KiB, 30%]],"
                                       " basis: measured, source: s}}");
    struct trust trust = {.basis = BASIS_MEASURED};
    assert_float_equal(profile_value(&profile, CURVE_GPU_HBM_SHARE, 2048, &trust), 0.2, 1e-12);
    profile_release(&profile);
}

static void trust_keeps_the_worst(void **state)
{
    (void)state;
    struct trust trust = {.basis = BASIS_MEASURED};
    trust_add(&trust, (struct trust){.basis = BASIS_DATASHEET});
    trust_add(&trust, (struct trust){.basis = BASIS_PUBLISHED, .extrapolated = true});
    trust_add(&trust, (struct trust){.basis = BASIS_MEASURED});
    assert_int_equal(trust.basis, BASIS_DATASHEET);
    assert_true(trust.extrapolated);
    assert_null(trust.assumed);
    trust_add(&trust, (struct trust){.basis = BASIS_ASSUMED});
    trust_add(&trust, (struct trust){.basis = BASIS_ASSUMED, .assumed = "gpu.topk"});
    trust_add(&trust, (struct trust){.basis = BASIS_ASSUMED, .assumed = "host.sync"});
    trust_add(&trust, (struct trust){.basis = BASIS_PUBLISHED});
    assert_string_equal(trust.assumed, "gpu.topk");
}

static void figure_keeps_its_basis_source_and_range(void **state)
{
    (void)state;
    struct profile profile = load_well(
        "{host: {sync: {value: 30us, basis: assumed, range: [50%, 4.0e2%], source: two guesses},"
        " cores: {value: 8, basis: datasheet, source: box}}}");
    const struct curve *sync = &profile.curves[CURVE_HOST_SYNC];
    assert_int_equal(sync->basis, BASIS_ASSUMED);
    assert_string_equal(sync->source, "two guesses");
    assert_float_equal(sync->least, 0.5, 1e-12);
    assert_float_equal(sync->most, 4, 1e-12);
    const struct curve *cores = &profile.curves[CURVE_HOST_CORES];
    assert_float_equal(cores->least, 1, 0);
    assert_float_equal(cores->most, 1, 0);
    assert_int_equal(profile.curves[CURVE_GPU_TOPK].count, 0);
    profile_release(&profile);
}

/* ---- messages -------------------------------------------------------------------------------- */

static void bad_input_is_explained(void **state)
{
    static const struct {
        const char *text, *fault;
    } cases[] = {
        {"~", "x.yaml:1 'hardware'"},
        {"a41", "x.yaml:1 'a41' nearest 'a40'"},
        {"[a40]", "x.yaml:1 'hardware'"},
        {"{gpuz: a40}", "x.yaml:1 'gpuz' 'hardware' nearest 'gpus'"},
        {"{link: pcei4}", "x.yaml:1 'pcei4' nearest 'pcie4'"},
        {"link:", "x.yaml:1 'link'"},
        {"{extends: [a40]}", "x.yaml:1 'extends'"},
        {"{link: [26GB/s]}", "x.yaml:1 'link'"},
        {"link:\n  h2dd: 26GB/s", "x.yaml:2 'h2dd' 'link' nearest 'h2d'"},
        {"link:\n  h2d: ~", "x.yaml:2 'link.h2d'"},
        {"link:\n  h2d: {value: 1GB/s, points: [], basis: assumed}", "x.yaml:2 'link.h2d'"},
        {"link: {h2d: {points: [[1, 1GB/s], [2, 2GB/s]], basis: measured, source: s}}",
         "x.yaml:1 'link.h2d'"},
        {"link: {h2d: 0GB/s}", "x.yaml:1 'link.h2d' '0GB/s'"},
        {"link: {h2d: 26B/s}", "x.yaml:1 'link.h2d' '26B/s'"},
        {"link: {coherent: 2}", "x.yaml:1 'link.coherent' '2'"},
        {"host: {cores: 1.5}", "x.yaml:1 'host.cores' '1.5'"},
        {"host: {cores: 0}", "x.yaml:1 'host.cores' '0'"},
        {"gpu: {hbm_share: 120%}", "x.yaml:1 'gpu.hbm_share' '120%'"},
        {"link: {h2d: {value: [1], basis: measured, source: s}}", "x.yaml:1 'link.h2d'"},
        {"link: {h2d: {value: 1GB/s, bases: measured}}",
         "x.yaml:1 'bases' 'link.h2d' nearest 'basis'"},
        {"link: {h2d: {value: 1GB/s, source: s}}", "x.yaml:1 'link.h2d'"},
        {"link: {h2d: {value: 1GB/s, basis: measured}}", "x.yaml:1 'link.h2d'"},
        {"link: {h2d: {value: 1GB/s, basis: measured, source: ''}}", "x.yaml:1 'link.h2d'"},
        {"link:\n  h2d:\n    value: 1GB/s\n    basis: mesured\n    source: s",
         "x.yaml:4 'mesured' nearest 'measured'"},
        {"link: {h2d: {value: 1GB/s, basis: assumed, source: s}}", "x.yaml:1 'link.h2d'"},
        {"link: {h2d: {value: 1GB/s, basis: assumed, source: s, range: [110%, 120%]}}",
         "x.yaml:1 'link.h2d'"},
        {"link: {h2d: {value: 1GB/s, basis: assumed, source: s, range: [50%]}}",
         "x.yaml:1 'link.h2d'"},
        {"gpu: {topk: {points: [[1, 1us]], basis: measured, source: s}}", "x.yaml:1 'gpu.topk'"},
        {"gpu: {topk: {points: [[1, 1us], [1, 2us]], basis: measured, source: s}}",
         "x.yaml:1 'gpu.topk' '1'"},
        {"gpu: {topk: {points: [[1, 1us], [2]], basis: measured, source: s}}",
         "x.yaml:1 'gpu.topk'"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why;
        char fault[FAULT_SIZE];
        refuse(cases[i].text, &why);
        assert_string_equal(fault_of(&why, fault), cases[i].fault);
        assert_true(why.expected[0] != '\0' || why.nearest[0] != '\0');
    }
}

/* ---- the price ------------------------------------------------------------------------------- */

static void price_that_no_gpu_has_is_refused(void **state)
{
    static const char *const prices[] = {
        "-1",    "0",  "0.0009", "10000.1", "1e30", "inf",        "nan",
        "cheap", "$2", "2GB",    "~",       "[1]",  "{value: 2}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(prices); i++) {
        struct error why;
        char text[128];
        snprintf(text, sizeof text, "link: {h2d: 26GB/s}\nprice_per_hour: %s", prices[i]);
        refuse(text, &why);
        assert_string_equal(why.file, "x.yaml");
        assert_int_equal(why.line, 2);
        assert_non_null(strstr(why.found, "'price_per_hour'"));
        assert_non_null(strstr(why.expected, "from 0.001 to 10000"));
    }
}

/* Units, signs and numbers past 64 bits are refused by units_parse(); its messages are its own. */
static void wrong_unit_names_the_curve(void **state)
{
    static const char *const texts[] = {
        "link: {h2d: 26GB}",      "link: {h2d: 26}",   "link: {h2d: -26GB/s}",
        "link: {h2d: 1e400GB/s}", "link: {h2d: fast}", "link: {h2d: nanGB/s}",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct profile profile;
        struct error why;
        assert_false(load(texts[i], &profile, &why));
        assert_string_equal(why.file, "x.yaml");
        assert_int_equal(why.line, 1);
        assert_non_null(strstr(why.found, "link.h2d"));
    }
}

static void typed_mistake_is_a_usage_error(void **state)
{
    (void)state;
    struct error why;
    struct profile profile;
    struct node *node = node_parse("{extends: a40}", 14, "x.yaml", &why);
    assert_true(node_set(node, "link.h2d", "50GB", &why));
    assert_false(profile_load(NULL, node, &profile, &why));
    assert_int_equal(why.kind, ERROR_USAGE);
    assert_string_equal(why.file, "--set");
    node_destroy(node);
}

/* ---- what is needed -------------------------------------------------------------------------- */

/* The message has all that is missing at once. */
static void missing_curves_are_named_with_who_needs_them(void **state)
{
    static const enum curve_id ids[] = {CURVE_LINK_IN, CURVE_GPU_TOPK, CURVE_GPU_SMS,
                                        CURVE_GPU_TOPK};
    (void)state;
    struct profile profile = load_well("{link: {h2d: 26GB/s}}");
    struct error why;
    char message[ERROR_TEXT];
    assert_true(profile_require(&profile, ids, 1, "system 'clo'", &why));
    assert_false(profile_require(&profile, ids, COUNT(ids), "system 'clo'", &why));
    error_format(&why, message, sizeof message);
    assert_string_equal(
        message,
        "hardware 'custom' does not state 'gpu.sms' and 1 more figure, which system 'clo' needs\n"
        "  expected: in its file, or in a profile that its parts extend: gpu.sms: 4, gpu.topk: "
        "12us");
    profile_release(&profile);
}

/* A profile that states next to nothing: the message counts what it does not list. */
static void more_missing_curves_than_fit_are_counted(void **state)
{
    (void)state;
    enum curve_id ids[CURVE_COUNT];
    size_t missing = 0;
    char count[64];
    struct profile profile = load_well("{link: {coherent: 0}}");
    struct error why;
    for (enum curve_id id = 0; id < CURVE_COUNT; id++) {
        ids[id] = id;
        missing += curve_kinds[id].standard == 0 && id != CURVE_LINK_COHERENT;
    }
    assert_false(profile_require(&profile, ids, COUNT(ids), "system 'clo'", &why));
    snprintf(count, sizeof count, " and %zu more figures", missing - 1);
    assert_non_null(strstr(why.found, count));
    assert_string_equal(why.expected + strlen(why.expected) - 5, ", ...");
    profile_release(&profile);
}

static void curve_that_is_not_stated_is_its_standard(void **state)
{
    static const enum curve_id ids[] = {CURVE_GPU_SM_THREADS, CURVE_GPU_SECTOR,
                                        CURVE_HOST_GATHER_SPAN};
    static const double standards[] = {2048, 32, 1};
    (void)state;
    struct profile profile = load_well("{link: {h2d: 26GB/s}}");
    struct trust trust = {.basis = BASIS_MEASURED};
    struct error why;
    assert_true(profile_require(&profile, ids, COUNT(ids), "system 'clo'", &why));
    for (size_t i = 0; i < COUNT(ids); i++) {
        assert_true(profile_value(&profile, ids[i], 7, &trust) == standards[i]);
    }
    assert_int_equal(trust.basis, BASIS_MEASURED);
    assert_false(trust.extrapolated);
    profile_release(&profile);

    profile = load_well("{gpu: {sm_threads: {value: 1536, basis: datasheet, source: guide}}}");
    assert_true(profile_value(&profile, CURVE_GPU_SM_THREADS, 0, &trust) == 1536);
    assert_int_equal(trust.basis, BASIS_DATASHEET);
    profile_release(&profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(value_is_linear_between_points),
        cmocka_unit_test(value_past_an_end_is_that_of_the_end_and_marked),
        cmocka_unit_test(one_value_holds_at_every_size),
        cmocka_unit_test(sizes_of_a_bytes_axis_carry_units),
        cmocka_unit_test(trust_keeps_the_worst),
        cmocka_unit_test(figure_keeps_its_basis_source_and_range),
        cmocka_unit_test(bad_input_is_explained),
        cmocka_unit_test(price_that_no_gpu_has_is_refused),
        cmocka_unit_test(wrong_unit_names_the_curve),
        cmocka_unit_test(typed_mistake_is_a_usage_error),
        cmocka_unit_test(missing_curves_are_named_with_who_needs_them),
        cmocka_unit_test(more_missing_curves_than_fit_are_counted),
        cmocka_unit_test(curve_that_is_not_stated_is_its_standard),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
