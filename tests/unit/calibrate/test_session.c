/* Sessions over groups whose samples are known, cut at every place, and gone on with. */
#include "unit/fixture/load_profile.h"

#include "calibrate/harness/session.h"
#include "hardware/measured.h"

#include <unistd.h>

static char folder[] = "/tmp/spillway-test.XXXXXX";
static char profile_path[64], part_path[64];

/* ---- groups ---- */

/* How often each group ran, and which is to fail (-1: none). */
static int runs[3], failing = -1;

static bool sample_lookup(void *state, double *value, struct error *why)
{
    (void)state;
    (void)why;
    *value = 70;
    return true;
}

static bool sample_gather(void *state, double *value, struct error *why)
{
    (void)why;
    *value = 1e9 * *(const double *)state;
    return true;
}

static bool fails(int group, struct error *why)
{
    runs[group]++;
    return failing == group && !error_set(why, NULL, 0, "group %d broke", group);
}

static bool run_lookup(const struct effort *effort, uint64_t seed, struct findings *findings,
                       struct error *why)
{
    const struct probe probe = {"host.lookup", 0, NULL, sample_lookup};
    return !fails(0, why) && measure_probes(&probe, 1, effort, seed, findings, why) &&
           findings_note(findings, "host.lookup", "fake", why);
}

static bool run_gather(const struct effort *effort, uint64_t seed, struct findings *findings,
                       struct error *why)
{
    double threads[] = {1, 2, 4};
    struct probe probes[3];
    for (size_t i = 0; i < 3; i++) {
        probes[i] = (struct probe){"host.gather", threads[i], &threads[i], sample_gather};
    }
    return !fails(1, why) && measure_probes(probes, 3, effort, seed, findings, why) &&
           findings_note(findings, "host.gather", "fake", why);
}

static bool run_absent(const struct effort *effort, uint64_t seed, struct findings *findings,
                       struct error *why)
{
    (void)effort;
    (void)seed;
    return !fails(2, why) && findings_note(findings, "link.cpu_store", "not here", why);
}

static const struct group groups[] = {
    {"fake-lookup", "one lookup", 0.2, run_lookup},
    {"fake-gather", "rows", 0.7, run_gather},
    {"fake-absent", "what there is none of", 0.1, run_absent},
};

/* ---- sessions ---- */

static const struct effort effort = {"test", 0, 9, 9, 0.02, 60};

static void start(struct calibration *calibration, const char *how)
{
    struct error why;
    *calibration = (struct calibration){.base = "h100-sxm"};
    provenance_set(&calibration->provenance, FACT_EFFORT, "%s", how);
    provenance_set(&calibration->provenance, FACT_DATE, "never");
    assert_true(machine_describe(MACHINE_HOST, FACT_CLOCKS_START, &calibration->provenance, &why));
}

/* Run a session; what it said is `*log`, owned by the caller. */
static bool run_session(struct calibration *calibration, char **log, struct error *why)
{
    const struct group *const all[] = {&groups[0], &groups[1], &groups[2], NULL};
    size_t size;
    struct session session = {.path = profile_path,
                              .groups = all,
                              .effort = &effort,
                              .seconds = 60,
                              .seed = 1,
                              .machine = MACHINE_HOST};
    session.log = open_memstream(log, &size);
    assert_non_null(session.log);
    memset(runs, 0, sizeof runs);
    bool ok = session_run(&session, calibration, why);
    assert_int_equal(fclose(session.log), 0);
    return ok;
}

static char *text_of(const char *path)
{
    struct error why;
    size_t size;
    char *text = node_file(path, &size, &why);
    assert_non_null(text);
    text[size] = '\0';
    return text;
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void forget(void)
{
    unlink(profile_path);
    unlink(part_path);
    failing = -1;
}

static void session_writes_a_profile_that_loads(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    start(&calibration, "test");
    assert_true(run_session(&calibration, &log, &why));
    assert_string_equal(log, "1/3 fake-lookup: one lookup\n2/3 fake-gather: rows\n"
                             "3/3 fake-absent: what there is none of\n");
    assert_false(exists(part_path));
    struct profile profile = load_well(profile_path);
    assert_true(value_of(&profile, CURVE_HOST_LOOKUP) == 70);
    profile_release(&profile);
    assert_string_equal(calibration.provenance.facts[FACT_GROUPS],
                        "fake-lookup fake-gather fake-absent");
    const char *missing = calibration.provenance.facts[FACT_NOT_MEASURED];
    assert_ptr_equal(strstr(missing, "gpu link host.launch "), missing);
    assert_null(strstr(missing, "host.gather "));
    free(log);
    calibration_release(&calibration);
    forget();
}

/* Broken in each group in turn, then gone on with: the other groups are measured all the same, and
 * not again, and the profile is the one of a session that was never broken. */
static void broken_group_is_all_that_is_measured_again(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log, said[64];
    start(&calibration, "test");
    assert_true(run_session(&calibration, &log, &why));
    char *whole = text_of(profile_path);
    free(log);
    calibration_release(&calibration);
    for (int broken = 0; broken < 3; broken++) {
        forget();
        failing = broken;
        start(&calibration, "test");
        assert_false(run_session(&calibration, &log, &why));
        assert_string_equal(why.found, "1 of 3 groups failed");
        snprintf(said, sizeof said, "%s failed: group %d broke\n", groups[broken].name, broken);
        assert_non_null(strstr(log, said));
        assert_non_null(strstr(log, "resumes"));
        assert_false(exists(profile_path));
        free(log);
        calibration_release(&calibration);
        failing = -1;
        start(&calibration, "test");
        assert_true(run_session(&calibration, &log, &why));
        for (int group = 0; group < 3; group++) {
            assert_int_equal(runs[group], group == broken);
        }
        assert_non_null(strstr(log, "resuming from"));
        char *text = text_of(profile_path);
        assert_string_equal(strstr(text, "\nextends:"), strstr(whole, "\nextends:"));
        free(text);
        free(log);
        calibration_release(&calibration);
    }
    free(whole);
    forget();
}

/* A group that adds a figure and then fails. */
static bool run_half(const struct effort *limits, uint64_t seed, struct findings *findings,
                     struct error *why)
{
    (void)limits;
    (void)seed;
    return findings_add(findings, "host.half", "threads", UNIT_NS, why) != NULL && !fails(0, why);
}

static void nothing_of_a_broken_group_is_kept(void **state)
{
    (void)state;
    static const struct group half = {"fake-half", "half of it", 1, run_half};
    const struct group *const all[] = {&half, &groups[1], NULL};
    struct calibration calibration;
    struct error why;
    char *log = NULL;
    size_t size;
    struct session session = {.path = profile_path, .groups = all, .effort = &effort, .seconds = 1};
    session.log = open_memstream(&log, &size);
    assert_non_null(session.log);
    failing = 0;
    start(&calibration, "test");
    assert_false(session_run(&session, &calibration, &why));
    assert_int_equal(fclose(session.log), 0);
    assert_null(findings_get(&calibration.findings, "host.half"));
    char *text = text_of(part_path);
    assert_null(strstr(text, "host.half"));
    free(text);
    free(log);
    calibration_release(&calibration);
    forget();
}

static void older_profile_stays_until_the_new_one_is_whole(void **state)
{
    (void)state;
    char older[256];
    snprintf(older, sizeof older, "%s\nextends: a40\n", measured_first_line);
    struct calibration calibration;
    struct error why;
    char *log;
    FILE *file = fopen(profile_path, "w");
    assert_non_null(file);
    fputs(older, file);
    assert_int_equal(fclose(file), 0);
    failing = 2;
    start(&calibration, "test");
    assert_false(run_session(&calibration, &log, &why));
    char *text = text_of(profile_path);
    assert_string_equal(text, older);
    free(text);
    free(log);
    calibration_release(&calibration);
    forget();
}

static void what_was_not_measured_is_not_replaced(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    FILE *file = fopen(profile_path, "w");
    assert_non_null(file);
    fputs("extends: a40\n", file);
    assert_int_equal(fclose(file), 0);
    start(&calibration, "test");
    assert_false(run_session(&calibration, &log, &why));
    assert_non_null(strstr(why.found, "measured profile"));
    assert_int_equal(runs[0], 0);
    char *text = text_of(profile_path);
    assert_string_equal(text, "extends: a40\n");
    free(text);
    free(log);
    calibration_release(&calibration);
    forget();
}

static void part_of_another_measurement_is_not_gone_on_with(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    failing = 1;
    start(&calibration, "test");
    assert_false(run_session(&calibration, &log, &why));
    free(log);
    calibration_release(&calibration);
    failing = -1;
    start(&calibration, "other");
    assert_true(run_session(&calibration, &log, &why));
    assert_non_null(strstr(log, "(effort differs)"));
    assert_int_equal(runs[0], 1);
    free(log);
    calibration_release(&calibration);
    forget();
}

static void part_that_is_not_whole_is_not_gone_on_with(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    failing = 1;
    start(&calibration, "test");
    assert_false(run_session(&calibration, &log, &why));
    free(log);
    calibration_release(&calibration);
    failing = -1;
    char *text = text_of(part_path);
    assert_int_equal(truncate(part_path, (off_t)strlen(text) / 2), 0);
    free(text);
    start(&calibration, "test");
    assert_true(run_session(&calibration, &log, &why));
    assert_non_null(strstr(log, "not a complete profile"));
    assert_int_equal(runs[0], 1);
    free(log);
    calibration_release(&calibration);
    forget();
}

static void interrupt_ends_it_and_it_goes_on(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    measure_interrupted = 1;
    start(&calibration, "test");
    assert_false(run_session(&calibration, &log, &why));
    assert_string_equal(why.found, "interrupted");
    free(log);
    calibration_release(&calibration);
    measure_interrupted = 0;
    start(&calibration, "test");
    assert_true(run_session(&calibration, &log, &why));
    free(log);
    calibration_release(&calibration);
    forget();
}

static void place_that_cannot_be_written_is_found_before_measuring(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    char kept[sizeof profile_path];
    static const struct {
        const char *ending, *message;
    } cases[] = {{"/none/p.yaml", "cannot be written"}, {"/.", "is not a regular file"}};
    memcpy(kept, profile_path, sizeof kept);
    for (size_t i = 0; i < COUNT(cases); i++) {
        snprintf(profile_path, sizeof profile_path, "%s%s", folder, cases[i].ending);
        start(&calibration, "test");
        assert_false(run_session(&calibration, &log, &why));
        assert_non_null(strstr(why.found, cases[i].message));
        assert_int_equal(runs[0], 0);
        free(log);
        calibration_release(&calibration);
    }
    memcpy(profile_path, kept, sizeof kept);
}

static int make_folder(void **state)
{
    (void)state;
    bool made = mkdtemp(folder) != NULL;
    snprintf(profile_path, sizeof profile_path, "%s/p.yaml", folder);
    snprintf(part_path, sizeof part_path, "%s/p.yaml.part", folder);
    return !made;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_writes_a_profile_that_loads),
        cmocka_unit_test(broken_group_is_all_that_is_measured_again),
        cmocka_unit_test(nothing_of_a_broken_group_is_kept),
        cmocka_unit_test(older_profile_stays_until_the_new_one_is_whole),
        cmocka_unit_test(what_was_not_measured_is_not_replaced),
        cmocka_unit_test(part_of_another_measurement_is_not_gone_on_with),
        cmocka_unit_test(part_that_is_not_whole_is_not_gone_on_with),
        cmocka_unit_test(interrupt_ends_it_and_it_goes_on),
        cmocka_unit_test(place_that_cannot_be_written_is_found_before_measuring),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
