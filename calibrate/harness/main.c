/* The harness: runs `calibrate` with the options that sim/cli/calibrate.c describes. */
#include "core/name.h"
#include "core/text.h"
#include "core/units.h"
#include "core/version.h"
#include "calibrate/disk/groups.h"
#include "calibrate/harness/apart.h"
#include "calibrate/harness/default_base.h"
#include "calibrate/harness/gpu_groups.h"
#include "calibrate/harness/session.h"
#include "calibrate/host/groups.h"
#include "calibrate/import/import.h"
#include "calibrate/mini/mini.h"
#include "cli/frame/arguments.h"
#include "cli/frame/command.h"
#include "cli/frame/program.h"
#include "machine/profile.h"

#include <signal.h>
#include <string.h>
#include <time.h>

/* The order of samples is the same in every measurement. */
enum { SEED = 1, MOST_GROUPS = 64 };

/* What a run of miniatures may take beyond one and a half times its samples, in seconds. A mechanism
 * may take half of that for a sample with its check, which takes a second or two: of one that hangs,
 * the next run is not late. */
#define MINI_PATIENCE 30

/* What a group may take beyond twice its time, in seconds: it sets up, and loads cuBLAS. */
#define PATIENCE 60

/* Of --within: the description of the machine at the end takes a part of it. */
enum { LEAST_WITHIN_S = 10 };

static void harness_interrupt(int number)
{
    measure_interrupted = number;
}

/* The first Ctrl-C lets groups clean up, the second ends the program at once. */
static void catch_interrupts(void)
{
    struct sigaction action = {.sa_handler = harness_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* ---- which groups ---- */

struct choice {
    const struct group *groups[MOST_GROUPS + 1]; /* ends with NULL */
    uint32_t count;
    double shares; /* sum of the shares of all groups to choose from */
};

static bool is_chosen(const struct arguments *arguments, const struct group *group)
{
    uint32_t count;
    const char *const *names =
        arguments_all(arguments, arguments_number(arguments, "--group"), &count);
    bool chosen = count == 0;
    for (uint32_t i = 0; i < count; i++) {
        chosen = chosen || strcmp(names[i], group->name) == 0;
    }
    return chosen;
}

static void choose_from(const struct arguments *arguments, const struct group *table,
                        struct choice *choice)
{
    for (; table->name != NULL && choice->count < MOST_GROUPS; table++) {
        choice->shares += table->share;
        if (is_chosen(arguments, table)) {
            choice->groups[choice->count++] = table;
        }
    }
}

/* Every --group must be in one of the tables of the measured parts. */
static bool check_names(const struct arguments *arguments, const struct group *const *tables,
                        struct error *why)
{
    const char *known[2 * MOST_GROUPS + 1] = {NULL};
    uint32_t count, used = 0;
    const char *const *names =
        arguments_all(arguments, arguments_number(arguments, "--group"), &count);
    for (; *tables != NULL; tables++) {
        for (const struct group *group = *tables; group->name != NULL && used < 2 * MOST_GROUPS;
             group++) {
            known[used++] = group->name;
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        while (known[at] != NULL && strcmp(known[at], names[i]) != 0) {
            at++;
        }
        if (known[at] == NULL) {
            error_usage(why, NULL, 0, "unknown group '%s'", names[i]);
            return name_expect(names[i], NAMES(known), why);
        }
    }
    return true;
}

/* ---- what is known before ---- */

/* With files alone there is no effort. */
static void state_how(const struct effort *effort, enum machine_part machine,
                      struct provenance *provenance)
{
    char date[32];
    time_t now = time(NULL);
    struct tm utc;
    strftime(date, sizeof date, "%Y-%m-%d %H:%M UTC", gmtime_r(&now, &utc));
    provenance_set(provenance, FACT_SPILLWAY, "%s", SPILLWAY_VERSION);
    provenance_set(provenance, FACT_DATE, "%s", date);
    if (machine != MACHINE_NOTHING) {
        provenance_set(provenance, FACT_EFFORT, "%s", effort->name);
        provenance_set(provenance, FACT_SEED, "%d", SEED);
    }
}

/* Imported files describe the machine on which they were made. With them alone, nothing is stated
 * about this machine. */
static enum machine_part machine_of(const struct arguments *arguments)
{
    return arguments_shared(arguments, "--host") != NULL   ? MACHINE_HOST
           : arguments_shared(arguments, "--from") != NULL ? MACHINE_NOTHING
                                                           : MACHINE_GPU;
}

static bool import_files(const struct arguments *arguments, struct calibration *calibration,
                         struct error *why)
{
    uint32_t count;
    const char *const *files =
        arguments_all(arguments, arguments_number(arguments, "--from"), &count);
    for (uint32_t i = 0; i < count; i++) {
        if (!findings_import(files[i], &calibration->findings, &calibration->provenance, why)) {
            return false;
        }
    }
    return true;
}

/* --base, or the profile of the GPU that is there. */
static bool choose_base(const struct arguments *arguments, struct calibration *calibration,
                        struct error *why)
{
    const char *device = calibration->provenance.facts[FACT_GPU];
    const char *base = arguments_shared(arguments, "--base");
    base = base != NULL ? base : default_base(device);
    if (strlen(base) >= sizeof calibration->base) {
        return error_usage(why, NULL, 0, "--base: the name is too long");
    }
    strcpy(calibration->base, base);
    return profile_check(calibration->base, "--base", why);
}

static bool harness_prepare(const struct arguments *arguments, const struct effort *effort,
                            enum machine_part machine, struct calibration *calibration,
                            struct error *why)
{
    state_how(effort, machine, &calibration->provenance);
    return import_files(arguments, calibration, why) &&
           machine_describe(machine, FACT_CLOCKS_START, DESCRIBE_SECONDS, &calibration->provenance,
                            why) &&
           choose_base(arguments, calibration, why);
}

/* ---- what is said after ---- */

static void report_restless(const struct findings *findings)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < findings->count; i++) {
        if (finding_is_curve(&findings->all[i]) && finding_is_restless(&findings->all[i])) {
            fprintf(stderr, "%s %s", count++ == 0 ? "too restless to settle:" : ",",
                    findings->all[i].name);
        }
    }
    if (count > 0) {
        fputc('\n', stderr);
    }
}

static void harness_report(const struct calibration *calibration, const char *path)
{
    uint32_t curves = 0, others = 0;
    for (uint32_t i = 0; i < calibration->findings.count; i++) {
        const struct finding *finding = &calibration->findings.all[i];
        if (finding->count == 0) {
            fprintf(stderr, "absent: %s: %s\n", finding->name, finding->note);
        } else if (finding_is_curve(finding)) {
            curves++;
        } else {
            others++;
        }
    }
    report_restless(&calibration->findings);
    fprintf(stderr, "%s: %u curves measured, %u other observations\n", path, curves, others);
    if (calibration->provenance.facts[FACT_NOT_MEASURED][0] != '\0') {
        fprintf(stderr, "not measured, and as %s states it: %s\n", calibration->base,
                calibration->provenance.facts[FACT_NOT_MEASURED]);
    }
}

static bool say_failed(uint32_t failed, uint32_t count, const char *path, struct error *why)
{
    error_set(why, NULL, 0, "%u of %u groups failed; %s holds the others", failed, count, path);
    return error_expect(why, "the same command again: it measures those alone and adds them");
}

/* The tables of the measured parts; ends with NULL. The drive is one of them if a folder is named,
 * which must be on a drive. */
static bool list_tables(const struct arguments *arguments, const struct group *tables[4],
                        struct error *why)
{
    enum machine_part machine = machine_of(arguments);
    const char *folder = arguments_shared(arguments, "--disk");
    uint32_t count = 0;
    if (folder != NULL && machine == MACHINE_NOTHING) {
        return error_usage(why, NULL, 0, "--disk: with --from it needs --host, too");
    }
    if (machine == MACHINE_GPU) {
        tables[count++] = gpu_groups;
    }
    if (machine != MACHINE_NOTHING) {
        tables[count++] = host_groups;
    }
    if (folder != NULL) {
        disk_where.folder = folder;
        tables[count++] = disk_groups;
    }
    tables[count] = NULL;
    return folder == NULL || scratch_check(folder, why);
}

/* --within, from now on, less what the end of a session takes. */
static bool read_terms(const struct arguments *arguments, struct budget_terms *out,
                       struct error *why)
{
    const char *text = arguments_shared(arguments, "--within");
    double ns = 0;
    *out = (struct budget_terms){.patience = PATIENCE};
    if (text == NULL) {
        return true;
    }
    if (!units_parse(text, UNIT_NS, NULL, 0, "--within", &ns, why)) {
        return false;
    }
    if (ns < LEAST_WITHIN_S * 1e9) {
        error_usage(why, NULL, 0, "--within: %s is too short to measure anything", text);
        return error_expect(why, "at least %d s", LEAST_WITHIN_S);
    }
    out->end_ns = clock_ns() + ns - SESSION_END_SECONDS * 1e9;
    return true;
}

static bool harness_measure(const struct arguments *arguments, struct calibration *calibration,
                            struct error *why)
{
    const struct group *tables[4];
    enum machine_part machine = machine_of(arguments);
    const struct effort *effort =
        arguments_shared(arguments, "--quick") != NULL ? &effort_quick : &effort_full;
    struct choice choice = {.count = 0};
    struct budget_terms terms;
    if (!read_terms(arguments, &terms, why) || !list_tables(arguments, tables, why) ||
        !check_names(arguments, tables, why) ||
        !harness_prepare(arguments, effort, machine, calibration, why)) {
        return false;
    }
    for (size_t i = 0; tables[i] != NULL; i++) {
        choose_from(arguments, tables[i], &choice);
    }
    terms.seconds = choice.shares > 0 ? effort->seconds / choice.shares : 0;
    const struct session session = {
        .path = arguments_shared(arguments, "--output"),
        .groups = choice.groups,
        .effort = effort,
        .terms = terms,
        .again = arguments_shared(arguments, "--group") != NULL,
        .seed = SEED,
        .machine = machine,
        .log = stderr,
    };
    uint32_t failed;
    if (!session_run(&session, calibration, &failed, why)) {
        return false;
    }
    harness_report(calibration, session.path);
    if (terms.end_ns > 0) {
        fprintf(stderr, "done %.1f s before the end\n",
                (terms.end_ns - clock_ns()) / 1e9 + SESSION_END_SECONDS);
    }
    return failed == 0 || say_failed(failed, choice.count, session.path, why);
}

static bool harness_run(const struct arguments *arguments, struct error *why)
{
    struct calibration calibration = {.base = ""};
    catch_interrupts();
    bool ok = harness_measure(arguments, &calibration, why);
    calibration_release(&calibration);
    return ok;
}

static const struct command_option no_options[] = {{.name = NULL}};

struct mini_task {
    const char *spec;
    struct mini_broken *broken;
    double seconds; /* for samples */
};

static bool run_mini_task(void *state, struct error *why)
{
    const struct mini_task *task = state;
    return mini_measure(task->spec, task->broken, stdout, why);
}

/* Each run is a process of its own. A mechanism that breaks a run is left out of the next one. */
static bool run_mini_tasks(const struct mini_task *task, struct error *why)
{
    struct mini_broken *broken = task->broken;
    const struct apart apart = {.name = "mini",
                                .seconds = 1.5 * task->seconds + MINI_PATIENCE,
                                .piece_ns = &broken->since_ns,
                                .piece_seconds = MINI_PATIENCE / 2,
                                .run = run_mini_task,
                                .state = (void *)task};
    while (!apart_run(&apart, why)) {
        if (broken->running < 0) {
            return false;
        }
        text_copy(broken->reason[broken->running], sizeof broken->reason[0], why->found);
        broken->running = -1;
        broken->since_ns = 0;
    }
    return true;
}

static bool run_mini(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    struct mini_broken *broken = apart_memory(sizeof *broken, why);
    struct mini_task task = {arguments_operands(arguments, &count)[0], broken, 0};
    bool ok =
        broken != NULL && mini_seconds(task.spec, &task.seconds, why) && run_mini_tasks(&task, why);
    apart_release(broken, sizeof *broken);
    return ok;
}

/* The measuring half of `validate`. */
static const struct command command_mini = {
    .name = "mini",
    .operands = "SPEC",
    .summary = "run mechanisms in miniature, for 'spillway validate'",
    .example = "spillway validate --host here.yaml smollm2-135m",
    .options = no_options,
    .run = run_mini,
};

int main(int argc, char **argv)
{
    static struct command calibrate;
    static const struct command *const commands[] = {&calibrate, &command_mini, NULL};
    calibrate = command_calibrate;
    calibrate.run = harness_run;
    const struct program program = {commands, SPILLWAY_COMMIT};
    int status = program_run(&program, argc, argv);
    /* As of every interrupted command, see program_run(). */
    return status != 0 && measure_interrupted != 0 ? 128 + measure_interrupted : status;
}
