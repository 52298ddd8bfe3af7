/* Sessions over groups whose samples are known, broken and cut at every place, and resumed. */
#include "unit/fixture/load_profile.h"

#include "calibrate/harness/apart.h"
#include "calibrate/harness/session.h"
#include "machine/measured.h"

#include <math.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/spillway-test.XXXXXX";
static char profile_path[64], part_path[64];

/* ---- groups ---- */

/* How often each group ran, also in other processes, and which breaks (-1: none) in what way. */
static int *runs, failing = -1;
static enum how { FAILS, CRASHES, HANGS, EXITS, LIES, INTERRUPTS } how = FAILS;

static bool restless; /* the samples of gathering vary */

static bool sample_lookup(void *state, double *value, struct error *why)
{
    (void)state;
    (void)why;
    *value = failing == 0 && how == LIES ? 1e13 : 70; /* a lookup of three hours */
    return true;
}

static bool sample_gather(void *state, double *value, struct error *why)
{
    static uint32_t count;
    (void)why;
    *value = (failing == 1 && how == LIES ? 1e18 : 1e9) * *(const double *)state;
    *value *= restless && count++ % 2 == 0 ? 2 : 1;
    return true;
}

static bool fails(int group, struct error *why)
{
    runs[group]++;
    if (failing != group || how == LIES) {
        return false;
    }
    if (how == CRASHES) {
        raise(SIGKILL);
    }
    if (how == EXITS) {
        _exit(3);
    }
    if (how == INTERRUPTS) {
        kill(getppid(), SIGUSR1);
    }
    while (how == HANGS || how == INTERRUPTS) {
        pause();
    }
    return !error_set(why, NULL, 0, "group %d broke", group);
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
    assert_true(machine_describe(MACHINE_HOST, FACT_CLOCKS_START, DESCRIBE_SECONDS,
                                 &calibration->provenance, &why));
}

/* The seconds within which sessions have to end; 0: as long as they take. */
static double within_s;

/* Run a session over these groups, of which `failed` fail. What it said is `*log`, owned by the
 * caller. */
static bool run_over(const struct group *const *some, bool again, struct calibration *calibration,
                     uint32_t failed, char **log, struct error *why)
{
    size_t size;
    uint32_t found = 0;
    const struct budget_terms terms = {.seconds = how == HANGS ? 0.1 : 60,
                                       .patience = how == HANGS ? 3 : 60,
                                       .end_ns = within_s > 0 ? clock_ns() + within_s * 1e9 : 0};
    struct session session = {.path = profile_path,
                              .groups = some,
                              .effort = &effort,
                              .terms = terms,
                              .again = again,
                              .seed = 1,
                              .machine = MACHINE_HOST};
    session.log = open_memstream(log, &size);
    assert_non_null(session.log);
    memset(runs, 0, 3 * sizeof *runs);
    bool ok = session_run(&session, calibration, &found, why);
    assert_int_equal(fclose(session.log), 0);
    assert_int_equal(found, failed);
    return ok;
}

/* Over all groups. */
static bool run_session(struct calibration *calibration, uint32_t failed, char **log,
                        struct error *why)
{
    const struct group *const all[] = {&groups[0], &groups[1], &groups[2], NULL};
    return run_over(all, false, calibration, failed, log, why);
}

/* Leave a profile of all groups. */
static void leave_profile(void)
{
    struct calibration calibration;
    struct error why;
    char *log;
    start(&calibration, "test");
    assert_true(run_session(&calibration, 0, &log, &why));
    free(log);
    calibration_release(&calibration);
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
    how = FAILS;
    within_s = 0;
    restless = false;
}

static void session_writes_a_profile_that_loads(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    start(&calibration, "test");
    assert_true(run_session(&calibration, 0, &log, &why));
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

/* The text of a profile below its provenance. */
static char *body_of(const char *path)
{
    char *text = text_of(path), *body = strdup(strstr(text, "\nextends:"));
    free(text);
    return body;
}

/* Each group broken in turn, in each way: the profile of the others is written and says what is
 * absent and why. The next session measures that group alone, and the profile becomes that of a
 * session in which nothing broke. */
static void broken_group_is_absent_until_it_is_measured(void **state)
{
    (void)state;
    static const struct {
        enum how how;
        const char *reason;
    } ways[] = {
        {FAILS, "group %d broke"},
        {CRASHES, "ended by signal 9 (Killed)"},
        {HANGS, "not done after 3 s, and killed"},
        {EXITS, "ended with status 3"},
    };
    struct calibration calibration;
    struct error why;
    char *log, name[64], reason[128];
    leave_profile();
    char *whole = body_of(profile_path);
    for (size_t i = 0; i < 3 * COUNT(ways); i++) {
        int broken = (int)(i % 3);
        forget();
        failing = broken;
        how = ways[i / 3].how;
        start(&calibration, "test");
        assert_true(run_session(&calibration, 1, &log, &why));
        snprintf(name, sizeof name, "group.%s", groups[broken].name);
        snprintf(reason, sizeof reason, ways[i / 3].reason, broken);
        const struct finding *absent = findings_get(&calibration.findings, name);
        assert_non_null(absent);
        assert_int_equal(absent->count, 0);
        assert_string_equal(absent->note, reason);
        assert_false(exists(part_path));
        struct profile profile = load_well(profile_path);
        profile_release(&profile);
        free(log);
        calibration_release(&calibration);
        failing = -1;
        start(&calibration, "test");
        assert_true(run_session(&calibration, 0, &log, &why));
        for (int group = 0; group < 3; group++) {
            assert_int_equal(runs[group], group == broken);
        }
        assert_non_null(strstr(log, "adding to"));
        char *body = body_of(profile_path);
        assert_string_equal(body, whole);
        free(body);
        free(log);
        calibration_release(&calibration);
    }
    free(whole);
    forget();
}

/* With an end, the budgets together are the time until then. A group that hangs is killed when its
 * own is over, and the others are measured. */
static void session_with_an_end_deals_out_its_time(void **state)
{
    (void)state;
    const struct budget_terms terms = {.seconds = 99, .patience = 99, .end_ns = 121e9};
    struct budget budgets[] = {{&groups[0], 0, 0, 0}, {&groups[1], 0, 0, 0}, {&groups[2], 0, 0, 0}};
    budget_deal(&terms, 1e9, budgets, 3); /* 120 s: 20 s each, and 60 s by shares */
    assert_true(fabs(budgets[0].planned_s - 32) < 1e-9 && fabs(budgets[0].samples_s - 9) < 1e-9);
    assert_true(fabs(budgets[1].planned_s - 62) < 1e-9 && fabs(budgets[2].planned_s - 26) < 1e-9);
    assert_true(fabs(budgets[2].end_ns - 121e9) < 1);
    assert_true(fabs(budget_left(&terms, &budgets[1], 11e9) - 84) < 1e-9);

    struct calibration calibration;
    struct error why;
    char *log;
    failing = 1;
    how = HANGS;
    within_s = 1;
    start(&calibration, "test");
    double since = clock_ns();
    assert_true(run_session(&calibration, 1, &log, &why));
    assert_true(clock_ns() - since > 0.7e9); /* the end of the second group's budget */
    assert_non_null(strstr(log, "s  fake-gather: rows\n"));
    assert_non_null(strstr(log, "fake-gather failed: not done after"));
    assert_non_null(findings_get(&calibration.findings, "host.lookup"));
    free(log);
    calibration_release(&calibration);
    forget();
}

/* A session with an end measures restless groups again. If that fails, their older figures stay. */
static void restless_groups_are_measured_again(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    restless = true;
    leave_profile();
    for (failing = 0; failing <= 1; failing++) {
        start(&calibration, "test");
        within_s = 60;
        assert_true(run_session(&calibration, 0, &log, &why));
        assert_int_equal(runs[0] + runs[2], 0);
        assert_int_equal(runs[1], 1);
        assert_string_equal(calibration.provenance.facts[FACT_RESTLESS], "fake-gather");
        assert_true(findings_get(&calibration.findings, "host.gather")->count > 0);
        assert_null(findings_get(&calibration.findings, "group.fake-gather"));
        free(log);
        calibration_release(&calibration);
    }
    restless = false;
    failing = -1;
    start(&calibration, "test");
    assert_true(run_session(&calibration, 0, &log, &why));
    assert_int_equal(runs[1], 1);
    assert_string_equal(calibration.provenance.facts[FACT_RESTLESS], "");
    free(log);
    calibration_release(&calibration);
    forget();
}

/* As under a supervisor that ignores the ends of its children: a program inherits that. */
static void groups_are_measured_where_ends_of_processes_are_ignored(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    failing = 1;
    how = EXITS;
    start(&calibration, "test");
    assert_ptr_not_equal(signal(SIGCHLD, SIG_IGN), SIG_ERR);
    assert_true(run_session(&calibration, 1, &log, &why));
    assert_non_null(strstr(log, "fake-gather failed: ended with status 3"));
    free(log);
    calibration_release(&calibration);
    forget();
}

/* A figure that no machine can have costs its group alone. */
static void impossible_figure_is_its_groups_failure(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    for (failing = 0; failing < 2; failing++) {
        how = LIES;
        start(&calibration, "test");
        assert_true(run_session(&calibration, 1, &log, &why));
        assert_non_null(strstr(log, "out of range"));
        struct profile profile = load_well(profile_path);
        assert_int_equal(profile.curves[CURVE_HOST_LOOKUP].basis == BASIS_MEASURED, failing == 1);
        profile_release(&profile);
        free(log);
        calibration_release(&calibration);
        unlink(profile_path);
    }
    forget();
}

static void without_any_figure_there_is_no_profile(void **state)
{
    (void)state;
    const struct group *const all[] = {&groups[0], NULL};
    struct calibration calibration;
    struct error why;
    char *log;
    failing = 0;
    start(&calibration, "test");
    assert_false(run_over(all, false, &calibration, 1, &log, &why));
    assert_non_null(strstr(why.found, "every group failed"));
    assert_false(exists(part_path));
    assert_false(exists(profile_path));
    free(log);
    calibration_release(&calibration);
    forget();
}

static void profile_that_lacks_nothing_stays_as_it_is(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    leave_profile();
    char *older = text_of(profile_path);
    start(&calibration, "test");
    assert_true(run_session(&calibration, 0, &log, &why));
    assert_int_equal(runs[0] + runs[1] + runs[2], 0);
    assert_non_null(strstr(log, "lacks nothing"));
    char *text = text_of(profile_path);
    assert_string_equal(text, older);
    assert_false(exists(part_path));
    free(text);
    free(older);
    free(log);
    calibration_release(&calibration);
    forget();
}

/* Of another measurement, or changed by hand. */
static void profile_that_does_not_fit_is_refused(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    leave_profile();
    for (int changed = 0; changed < 2; changed++) {
        if (changed) {
            FILE *file = fopen(profile_path, "a");
            assert_non_null(file);
            fputs("host: {lookup: 7ns}\n", file);
            assert_int_equal(fclose(file), 0);
        }
        char *older = text_of(profile_path);
        start(&calibration, changed ? "test" : "other");
        assert_false(run_session(&calibration, 0, &log, &why));
        assert_non_null(strstr(why.found, changed ? "changed or cut" : "its 'effort' differs"));
        assert_int_equal(runs[0] + runs[1] + runs[2], 0);
        char *text = text_of(profile_path);
        assert_string_equal(text, older);
        free(text);
        free(older);
        free(log);
        calibration_release(&calibration);
    }
    forget();
}

/* Groups that a profile has are measured again when they alone are asked for, and its other figures
 * stay. */
static void named_group_is_measured_again_and_replaced(void **state)
{
    (void)state;
    const struct group *const all[] = {&groups[1], NULL};
    struct calibration calibration;
    struct error why;
    char *log;
    leave_profile();
    char *older = body_of(profile_path);
    start(&calibration, "test");
    assert_true(run_over(all, true, &calibration, 0, &log, &why));
    assert_int_equal(runs[0], 0);
    assert_int_equal(runs[1], 1);
    char *body = body_of(profile_path);
    assert_string_equal(body, older);
    free(body);
    free(older);
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
    assert_false(run_session(&calibration, 0, &log, &why));
    assert_non_null(strstr(why.found, "measured profile"));
    assert_int_equal(runs[0], 0);
    char *text = text_of(profile_path);
    assert_string_equal(text, "extends: a40\n");
    free(text);
    free(log);
    calibration_release(&calibration);
    forget();
}

static void interrupt(int number)
{
    (void)number;
    measure_interrupted = 1;
}

/* Interrupt a session in its second group, so that it leaves a part. */
static void leave_part(void)
{
    struct calibration calibration;
    struct error why;
    char *log;
    failing = 1;
    how = INTERRUPTS;
    start(&calibration, "test");
    assert_ptr_not_equal(signal(SIGUSR1, interrupt), SIG_ERR);
    assert_false(run_session(&calibration, 0, &log, &why));
    assert_string_equal(why.found, "interrupted");
    assert_non_null(strstr(log, "keeps the measurements so far"));
    assert_true(exists(part_path));
    assert_false(exists(profile_path));
    free(log);
    calibration_release(&calibration);
    measure_interrupted = 0;
    failing = -1;
    how = FAILS;
}

static void part_is_resumed(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    leave_part();
    start(&calibration, "test");
    assert_true(run_session(&calibration, 0, &log, &why));
    assert_non_null(strstr(log, "resuming from"));
    assert_non_null(strstr(log, "2/3 fake-gather"));
    assert_int_equal(runs[0], 0);
    assert_false(exists(part_path));
    free(log);
    calibration_release(&calibration);
    forget();
}

static void part_of_another_measurement_is_not_resumed(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    leave_part();
    start(&calibration, "other");
    assert_true(run_session(&calibration, 0, &log, &why));
    assert_non_null(strstr(log, "(effort differs)"));
    assert_int_equal(runs[0], 1);
    free(log);
    calibration_release(&calibration);
    forget();
}

/* A part that is of no use does not cost the profile beside it. */
static void profile_is_added_to_despite_a_part_of_another_measurement(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    leave_part();
    char kept[sizeof part_path + 8];
    snprintf(kept, sizeof kept, "%s.kept", part_path);
    assert_int_equal(rename(part_path, kept), 0);
    failing = 2;
    start(&calibration, "other");
    assert_true(run_session(&calibration, 1, &log, &why));
    free(log);
    calibration_release(&calibration);
    failing = -1;
    assert_int_equal(rename(kept, part_path), 0);
    start(&calibration, "other");
    assert_true(run_session(&calibration, 0, &log, &why));
    assert_non_null(strstr(log, "(effort differs): starting again"));
    assert_non_null(strstr(log, "adding to"));
    assert_int_equal(runs[0] + runs[1], 0);
    assert_int_equal(runs[2], 1);
    free(log);
    calibration_release(&calibration);
    forget();
}

static void part_that_is_not_whole_is_not_resumed(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    leave_part();
    char *text = text_of(part_path);
    assert_int_equal(truncate(part_path, (off_t)strlen(text) / 2), 0);
    free(text);
    start(&calibration, "test");
    assert_true(run_session(&calibration, 0, &log, &why));
    assert_non_null(strstr(log, "not a complete profile"));
    assert_int_equal(runs[0], 1);
    free(log);
    calibration_release(&calibration);
    forget();
}

/* A group that failed before comes last, because it may hang again. */
static void group_that_failed_comes_last(void **state)
{
    (void)state;
    struct calibration calibration;
    struct error why;
    char *log;
    start(&calibration, "test");
    findings_note(&calibration.findings, "group.fake-lookup", "it hung", &why);
    assert_true(run_session(&calibration, 0, &log, &why));
    assert_non_null(strstr(log, "3/3 fake-lookup"));
    assert_null(findings_get(&calibration.findings, "group.fake-lookup"));
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
        assert_false(run_session(&calibration, 0, &log, &why));
        assert_non_null(strstr(why.found, cases[i].message));
        assert_int_equal(runs[0], 0);
        free(log);
        calibration_release(&calibration);
    }
    memcpy(profile_path, kept, sizeof kept);
}

static void expect_place_refused(const char *message)
{
    struct calibration calibration;
    struct error why;
    char *log;
    start(&calibration, "test");
    assert_false(run_session(&calibration, 0, &log, &why));
    if (strstr(why.found, message) == NULL) {
        fail_msg("'%s' without '%s'", why.found, message);
    }
    assert_int_equal(runs[0], 0);
    free(log);
    calibration_release(&calibration);
}

/* Under the names of its files beside the profile nothing is emptied, replaced or waited for. */
static void what_is_not_the_sessions_own_stays(void **state)
{
    (void)state;
    char fresh[96], note[96];
    snprintf(fresh, sizeof fresh, "%s.spillway-tmp", part_path);
    snprintf(note, sizeof note, "%s/note", folder);
    FILE *file = fopen(note, "w");
    assert_true(file != NULL && fputs("a note", file) > 0 && fclose(file) == 0);
    assert_int_equal(symlink("note", fresh), 0);
    expect_place_refused("is in the way");
    assert_int_equal(unlink(fresh), 0);
    assert_int_equal(mkfifo(fresh, 0600), 0);
    expect_place_refused("is in the way");
    assert_int_equal(unlink(fresh), 0);
    assert_int_equal(rename(note, part_path), 0);
    expect_place_refused("not a measured profile");
    char *text = text_of(part_path);
    assert_string_equal(text, "a note");
    free(text);
    assert_int_equal(unlink(part_path), 0);
    assert_int_equal(mkfifo(part_path, 0600), 0);
    expect_place_refused("is not a regular file");
    assert_int_equal(unlink(part_path), 0);
}

static int make_folder(void **state)
{
    (void)state;
    struct error why;
    bool made = mkdtemp(folder) != NULL && (runs = apart_memory(3 * sizeof *runs, &why)) != NULL;
    snprintf(profile_path, sizeof profile_path, "%s/p.yaml", folder);
    snprintf(part_path, sizeof part_path, "%s/p.yaml.part", folder);
    return !made;
}

static int remove_folder(void **state)
{
    (void)state;
    apart_release(runs, 3 * sizeof *runs);
    return rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(session_writes_a_profile_that_loads),
        cmocka_unit_test(broken_group_is_absent_until_it_is_measured),
        cmocka_unit_test(session_with_an_end_deals_out_its_time),
        cmocka_unit_test(restless_groups_are_measured_again),
        cmocka_unit_test(groups_are_measured_where_ends_of_processes_are_ignored),
        cmocka_unit_test(impossible_figure_is_its_groups_failure),
        cmocka_unit_test(without_any_figure_there_is_no_profile),
        cmocka_unit_test(profile_that_lacks_nothing_stays_as_it_is),
        cmocka_unit_test(profile_that_does_not_fit_is_refused),
        cmocka_unit_test(named_group_is_measured_again_and_replaced),
        cmocka_unit_test(what_was_not_measured_is_not_replaced),
        cmocka_unit_test(part_is_resumed),
        cmocka_unit_test(part_of_another_measurement_is_not_resumed),
        cmocka_unit_test(profile_is_added_to_despite_a_part_of_another_measurement),
        cmocka_unit_test(part_that_is_not_whole_is_not_resumed),
        cmocka_unit_test(group_that_failed_comes_last),
        cmocka_unit_test(place_that_cannot_be_written_is_found_before_measuring),
        cmocka_unit_test(what_is_not_the_sessions_own_stays),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
