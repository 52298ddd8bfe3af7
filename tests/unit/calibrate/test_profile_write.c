/* Findings written as a profile: read back to the same bytes, used by a simulation, and refused
 * when a byte of them is missing or another. */
#include "unit/fixture/load_profile.h"
#include "unit/fixture/rounds.h"

#include "core/random.h"
#include "calibrate/harness/profile_write.h"

#include <math.h>
#include <unistd.h>

static char folder[] = "/tmp/spillway-test.XXXXXX";

static const char *file_in_folder(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put_text(const char *path, const char *text, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

static char *written(const struct calibration *calibration)
{
    char *text = NULL;
    size_t size;
    struct error why;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    if (!profile_write(calibration, out, &why)) {
        fail_msg("%s", why.found);
    }
    assert_int_equal(fclose(out), 0);
    return text;
}

static void add(struct calibration *calibration, const char *name, const char *axis, enum unit unit,
                const struct found_point *points, uint32_t count, const char *note)
{
    struct error why;
    struct finding *finding = findings_add(&calibration->findings, name, axis, unit, &why);
    assert_non_null(finding);
    for (uint32_t i = 0; i < count; i++) {
        assert_true(finding_put(finding, &points[i], &why));
    }
    assert_true(findings_note(&calibration->findings, name, note, &why));
}

/* A gather of three points, of which the middle one lies 0.4 % off the line between the others; a
 * figure; an observation; a curve that is absent. */
static void fill(struct calibration *calibration)
{
    static const struct found_point gather[] = {
        {1, 2.0e9, 1.9e9, 2.1e9, 9, true, 1, 0},
        {2, 4.016e9, 3.8152e9, 4.2168e9, 40, false, 1.08, 2},
        {4, 8.0e9, 8.4e9, 7.2e9, 12, true, 0, 0}, /* drift not known; p10 and p90 from times */
    };
    static const struct found_point lookup[] = {{0, 71.23456, 70, 90, 15, true, 1, 0}};
    static const struct found_point rows[] = {
        {128, 1.5e9, 1.4e9, 1.6e9, 9, true, 1, 0},
        {1536, 3.5e9, 3.4e9, 3.6e9, 9, true, 1, 0},
        {16384, 4.5e9, 4.4e9, 4.6e9, 9, true, 1, 0},
    };
    *calibration = (struct calibration){.base = "h100-sxm"};
    provenance_set(&calibration->provenance, FACT_CPU, "Intel \"Quoted\" CPU \\ %s", "\xc2\xb5");
    provenance_set(&calibration->provenance, FACT_EFFORT, "quick");
    add(calibration, "host.gather", "", UNIT_COUNT, gather, 3, "rows of 1 KiB, in one pass");
    add(calibration, "host.lookup", "", UNIT_COUNT, lookup, 1, "lru, 10000 units");
    add(calibration, "host.gather_rows", "bytes", UNIT_BYTES_PER_S, rows, 3, "2 threads");
    add(calibration, "link.cpu_store", "", UNIT_COUNT, NULL, 0, "GDRCopy is not installed");
}

static void profile_says_what_was_found(void **state)
{
    (void)state;
    struct calibration calibration;
    fill(&calibration);
    char *text = written(&calibration);
    static const char *const lines[] = {
        "\nextends: \"h100-sxm\"\nhost:\n",
        "  lookup:\n    value: 71.23ns\n    basis: measured\n    range: [98.27%, 126.4%]\n"
        "    source: \"lru, 10000 units; 15 samples\"\n",
        "  gather:\n    points: [[1, 2GB/s], [4, 8GB/s]]\n    basis: measured\n"
        "    range: [90%, 105%]\n"
        "    source: \"rows of 1 KiB, in one pass; 9 to 40 samples of each point, too restless at "
        "1 of 3 to settle, drift up to +8 %, 2 stray; 1 of 3 points left out, at most 0.4 % off\"\n",
        "  host.gather_rows:\n    axis: bytes\n    unit: bytes/s\n    note: \"2 threads\"\n"
        "    points:\n      - [128B, 1.5GB/s, 1.4GB/s, 1.6GB/s, 9, yes, 100%, 0]\n"
        "      - [1536B, 3.5GB/s, 3.4GB/s, 3.6GB/s, 9, yes, 100%, 0]\n"
        "      - [16KiB, 4.5GB/s, 4.4GB/s, 4.6GB/s, 9, yes, 100%, 0]\n",
        "  link.cpu_store:\n    axis: threads\n    unit: bytes/s\n"
        "    absent: \"GDRCopy is not installed\"\n",
        "  cpu: \"Intel \\\"Quoted\\\" CPU \\\\ \\u00b5\"\n",
    };
    for (size_t i = 0; i < COUNT(lines); i++) {
        if (strstr(text, lines[i]) == NULL) {
            fail_msg("not found:\n%s\nin:\n%s", lines[i], text);
        }
    }
    assert_null(strstr(text, "\nlink:"));
    free(text);
    calibration_release(&calibration);
}

static void profile_read_and_written_again_is_the_same_bytes(void **state)
{
    (void)state;
    struct calibration calibration, again;
    struct error why;
    fill(&calibration);
    char *text = written(&calibration);
    const char *path = file_in_folder("same.yaml");
    put_text(path, text, strlen(text));
    if (!profile_read(path, &again, &why)) {
        fail_msg("%s:%d: %s", why.file, why.line, why.found);
    }
    char *second = written(&again);
    assert_string_equal(text, second);
    free(second);
    free(text);
    calibration_release(&again);
    calibration_release(&calibration);
}

static void random_findings_survive_the_round_trip(void **state)
{
    (void)state;
    static const enum unit units[] = {UNIT_COUNT, UNIT_SHARE,       UNIT_TIMES,      UNIT_TOKENS,
                                      UNIT_BYTES, UNIT_BYTES_PER_S, UNIT_FLOP_PER_S, UNIT_NS};
    const uint64_t seed = 5;
    struct error why;
    gsl_rng *random = random_stream(seed, "test", 0, &why);
    const char *path = file_in_folder("random.yaml");
    for (int trial = 0; trial < 200; trial++) {
        struct calibration calibration = {.base = "h100-sxm"}, again;
        for (size_t unit = 0; unit < COUNT(units); unit++) {
            struct found_point points[3];
            char name[32];
            for (uint32_t i = 0; i < 3; i++) {
                double median = exp(30 * gsl_rng_uniform(random) - 4);
                points[i] = (struct found_point){i * floor(1e4 * gsl_rng_uniform(random)) + i,
                                                 median,
                                                 median * gsl_rng_uniform(random),
                                                 median * (1 + gsl_rng_uniform(random)),
                                                 1 + (uint32_t)gsl_rng_uniform_int(random, 200),
                                                 gsl_rng_uniform(random) < 0.5,
                                                 0.5 + gsl_rng_uniform(random),
                                                 (uint32_t)gsl_rng_uniform_int(random, 9)};
            }
            snprintf(name, sizeof name, "gpu.thing_%zu", unit);
            add(&calibration, name, unit % 2 ? "bytes" : "rows", units[unit], points, 3, "so");
        }
        char *text = written(&calibration);
        put_text(path, text, strlen(text));
        if (!profile_read(path, &again, &why)) {
            fail_msg("seed %llu, trial %d: %s:%d: %s", (unsigned long long)seed, trial, why.file,
                     why.line, why.found);
        }
        char *second = written(&again);
        assert_string_equal(text, second);
        free(second);
        free(text);
        calibration_release(&again);
        calibration_release(&calibration);
    }
    gsl_rng_free(random);
}

static void simulation_uses_it_over_its_base(void **state)
{
    (void)state;
    struct calibration calibration;
    fill(&calibration);
    char *text = written(&calibration);
    const char *path = file_in_folder("used.yaml");
    put_text(path, text, strlen(text));
    struct profile profile = load_well(path);
    assert_string_equal(profile.name, "used");
    struct trust trust = {.basis = BASIS_MEASURED};
    assert_true(profile_value(&profile, CURVE_HOST_GATHER, 2, &trust) == 4e9);
    assert_true(profile_value(&profile, CURVE_HOST_LOOKUP, 0, &trust) == 71.23);
    assert_int_equal(trust.basis, BASIS_MEASURED);
    assert_true(profile.curves[CURVE_HOST_GATHER].least == 0.9);
    assert_int_equal(profile.curves[CURVE_GPU_SMS].basis, BASIS_DATASHEET);
    profile_release(&profile);
    free(text);
    calibration_release(&calibration);
}

static bool loads(const char *path, struct error *why)
{
    struct profile profile;
    bool loaded = load(path, &profile, why);
    if (loaded) {
        profile_release(&profile);
    }
    return loaded;
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    fill(&calibration);
    char *text = written(&calibration);
    const char *path = file_in_folder("cut.yaml");
    /* Cut within its first line, it is no measured profile, and no profile either. */
    for (size_t size = strlen(text) - 1; size > 0; size--) {
        put_text(path, text, size);
        if (loads(path, &why)) {
            fail_msg("cut to %zu of %zu bytes it loads", size, strlen(text));
        }
        assert_string_equal(why.file, path);
        bool begun = size > strcspn(text, "\n");
        assert_true(!begun || strstr(why.found, "changed or cut") != NULL);
    }
    free(text);
    calibration_release(&calibration);
}

static void every_changed_byte_is_refused(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    fill(&calibration);
    char *text = written(&calibration);
    const char *path = file_in_folder("changed.yaml");
    for (size_t i = 0, size = strlen(text); i < size; i += ROUNDS(1, 3)) {
        char kept = text[i];
        text[i] = kept == '1' ? '2' : '1';
        put_text(path, text, strlen(text));
        if (loads(path, &why)) {
            fail_msg("with byte %zu changed it loads", i);
        }
        assert_string_equal(why.file, path);
        text[i] = kept;
    }
    free(text);
    calibration_release(&calibration);
}

static void expect_refusal(const char *text, const char *expected)
{
    struct error why;
    char message[2048], whole[2048];
    const char *path = file_in_folder("bad.yaml");
    put_text(path, text, strlen(text));
    assert_false(loads(path, &why));
    error_format(&why, message, sizeof message);
    snprintf(whole, sizeof whole, "%s%s", path, expected);
    assert_string_equal(message, whole);
}

static void refusal_says_what_to_do(void **state)
{
    (void)state;
    static const char first[] = "# Measured by 'spillway calibrate'. Figures of your own go into a "
                                "new file that extends this one.\n";
    char text[1024];
    snprintf(text, sizeof text, "%sprovenance:\n  format: 1\n  checksum: 0123456789abcdef\n...\n",
             first);
    char changed[2][512]; /* behind the head no line is known */
    static const char *const lines[] = {"", ":3"};
    for (int i = 0; i < 2; i++) {
        snprintf(
            changed[i], sizeof changed[i],
            "%s: this measured profile was changed or cut after it was measured\n"
            "  expected: the whole file, of this version; figures of your own in a new file, below "
            "'extends: %s'; or measure again",
            lines[i], file_in_folder("bad.yaml"));
    }
    expect_refusal(text, changed[0]);
    snprintf(text, sizeof text, "%sprovenance:\n  format: 2\n", first);
    expect_refusal(text, changed[1]);
    expect_refusal(
        "extends: a40\nprovenance: {format: 1}\n",
        ":2: only a measured profile may have 'provenance'; this one is not, or was changed\n"
        "  expected: only gpu, link, host and disk; or the profile as it was measured");
    expect_refusal(
        "observed: {}\nextends: a40\n",
        ":1: only a measured profile may have 'observed'; this one is not, or was changed\n"
        "  expected: only gpu, link, host and disk; or the profile as it was measured");
}

static void entry_that_was_not_observed_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *entry, *message;
    } cases[] = {
        {"{x: 1}", "'x' is nothing"},
        {"{x: {unit: time}}", "'x' has neither points nor a reason for being absent"},
        {"{x: {unit: time, points: [], absent: no}}",
         "'x' has both points and a reason for being absent"},
        {"{x: {points: []}}", "'x' has no unit"},
        {"{x: {unit: tine, points: []}}", "unknown unit 'tine'"},
        {"{x: {unit: time, point: []}}", "unknown key 'point' in 'x'"},
        {"{x: {unit: time, points: [[1, 1us]]}}", "a point of 'x' does not have 8 values"},
        {"{x: {unit: time, points: [[1, 1us, 2us, 1us, 9, yes, 100%, 0]]}}",
         "a point of 'x' is invalid"},
        {"{x: {unit: time, points: [[1, 1us, 1us, 1us, 9, maybe, 100%, 0]]}}",
         "'settled' is 'maybe'"},
        {"{x: {unit: time, points: [[2, 1us, 1us, 1us, 9, yes, 100%, 0], "
         "[1, 1us, 1us, 1us, 9, yes, 100%, 0]]}}",
         "the points of 'x' are out of order"},
        {"{x: {unit: time, points: [[1, 1GB/s, 1us, 1us, 9, yes, 100%, 0]]}}", "'x' is '1GB/s'"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error why = {.found = ""};
        struct finding finding;
        struct node *node = node_parse(cases[i].entry, strlen(cases[i].entry), "x.yaml", &why);
        assert_non_null(node);
        assert_false(finding_read(node->children[0], &finding, &why));
        if (i > 0 && strstr(why.found, cases[i].message) == NULL) {
            fail_msg("%s: %s", cases[i].entry, why.found);
        }
        assert_int_equal(why.line, 1);
        node_destroy(node);
    }
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int remove_folder(void **state)
{
    (void)state;
    static const char *const names[] = {"same.yaml", "random.yaml",  "used.yaml",
                                        "cut.yaml",  "changed.yaml", "bad.yaml"};
    for (size_t i = 0; i < COUNT(names); i++) {
        unlink(file_in_folder(names[i]));
    }
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(profile_says_what_was_found),
        cmocka_unit_test(profile_read_and_written_again_is_the_same_bytes),
        cmocka_unit_test(random_findings_survive_the_round_trip),
        cmocka_unit_test(simulation_uses_it_over_its_base),
        cmocka_unit_test(every_cut_is_refused),
        cmocka_unit_test(every_changed_byte_is_refused),
        cmocka_unit_test(refusal_says_what_to_do),
        cmocka_unit_test(entry_that_was_not_observed_is_refused),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
