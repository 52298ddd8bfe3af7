/* `spillway validate`: runs mechanisms for real, in miniature, and compares their times with
 * predictions. */
#include "tables/table.h"
#include "core/units.h"
#include "cli/frame/arguments.h"
#include "cli/frame/command.h"
#include "cli/frame/question.h"
#include "cli/frame/harness.h"
#include "cli/frame/message.h"
#include "cli/trace/trace_argument.h"
#include "cli/validate.h"

#include <inttypes.h>
#include <stdlib.h>

enum { HOST, DISK, MODEL, CONTEXT, QUICK, DB };

/* A layer of 32 Ki tokens of eight heads is 134 MB: more than a CPU's caches hold. */
static const char default_model[] = "llama-3-8b", default_context[] = "32768";

/* Seconds for all mechanisms together. */
#define SECONDS 120.0
#define QUICK_SECONDS 30.0

static const struct command_option options[] = {
    [HOST] = {.name = "--host",
              .summary = "run mechanisms that need no GPU; threads stand in for the GPU and the "
                         "link"},
    [DISK] = {.name = "--disk",
              .argument = "FOLDER",
              .summary = "run what reads a drive, too, from a scratch file in this folder: half a "
                         "GB with the default model and context; needs --host"},
    [MODEL] = {.name = "--model",
               .argument = "NAME",
               .summary = "the model whose shapes are run (default: llama-3-8b)"},
    [CONTEXT] = {.name = "--context",
                 .argument = "TOKENS",
                 .summary = "the context to run at, rounded up to a multiple of the recorded "
                            "context (default: 32768)"},
    [QUICK] = {.name = "--quick", .summary = "take samples for 30 seconds instead of 120"},
    [DB] = {.name = "--db",
            .argument = "FILE",
            .summary = "store predictions and measurements in table 'validations' of this SQLite "
                       "file"},
    {.name = NULL},
};

static void subject_release(struct subject *subject)
{
    profile_release(&subject->profile);
    model_release(&subject->model);
    trace_close(subject->trace);
}

static const char *text_or(const struct arguments *arguments, int option, const char *standard)
{
    const char *text = arguments_text(arguments, option);
    return text != NULL ? text : standard;
}

/* A profile without a drive cannot predict what reads one. */
static bool validate_disk(const struct arguments *arguments, struct subject *out, struct error *why)
{
    out->shape.disk = arguments_text(arguments, DISK);
    return out->shape.disk == NULL || miniature_knows(&out->profile, MINIATURE_DISK, why) ||
           error_expect(why, "a profile of calibrate --host --disk %s", out->shape.disk);
}

static bool validate_load(const struct arguments *arguments, struct subject *out, struct error *why)
{
    static const struct model_options as_it_is = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    uint32_t count;
    uint64_t context;
    const char *const *operands = arguments_operands(arguments, &count);
    if (arguments_given(arguments, DISK) && !arguments_given(arguments, HOST)) {
        error_usage(why, NULL, 0, "--disk is for mechanisms that need no GPU");
        return error_expect(why, "--host --disk %s", arguments_text(arguments, DISK));
    }
    return units_parse_whole(text_or(arguments, CONTEXT, default_context), UNIT_TOKENS, 1 << 30,
                             NULL, 0, "--context", &context, why) &&
           profile_load_named(operands[0], &out->profile, why) &&
           (out->trace = trace_named(operands[1], why)) != NULL &&
           model_load(NULL, text_or(arguments, MODEL, default_model), &as_it_is, NULL, 0,
                      &out->model, why) &&
           validation_shape(&out->model, out->trace, &out->profile,
                            arguments_given(arguments, HOST) ? MINIATURE_HOST : MINIATURE_GPU,
                            context, &out->shape, why) &&
           validate_disk(arguments, out, why);
}

/* ---- the command ---- */

/* The others stand in the table and in the database all the same. */
static bool check_none_failed(const struct validation *validation, struct error *why)
{
    uint32_t failed = 0;
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        failed += validation->rows[id].failed;
    }
    return failed == 0 ||
           error_set(why, NULL, 0, "%" PRIu32 " mechanism%s failed, as said under the table",
                     failed, failed > 1 ? "s" : "");
}

/* A short trial run, so that a machine that cannot run it fails before the user waits. */
static bool can_measure(const struct subject *subject, struct error *why)
{
    char *lines = NULL;
    char *spec = validation_spec(&subject->shape, trace_path(subject->trace), 0, why);
    bool good = spec != NULL &&
                harness_read("mini", spec, subject->shape.site == MINIATURE_HOST, &lines, why);
    free(lines);
    free(spec);
    return good;
}

static bool validate_measure(const struct subject *subject, const char *spec, double seconds,
                             char **lines, struct error *why)
{
    message_note("running mechanisms (keep the machine idle): about %.0f s", seconds);
    return harness_read("mini", spec, subject->shape.site == MINIATURE_HOST, lines, why);
}

static bool validate(const struct arguments *arguments, const struct subject *subject,
                     struct store *store, struct error *why)
{
    struct validation validation;
    char *lines = NULL;
    double seconds = arguments_given(arguments, QUICK) ? QUICK_SECONDS : SECONDS;
    char *spec = validation_spec(&subject->shape, trace_path(subject->trace), seconds, why);
    bool good = spec != NULL && can_measure(subject, why) &&
                validate_measure(subject, spec, seconds, &lines, why) &&
                validation_judge(&subject->shape, subject->trace, &subject->profile, lines,
                                 &validation, why) &&
                validate_show(subject, &validation, spec, store, why) &&
                check_none_failed(&validation, why);
    free(lines);
    free(spec);
    return good;
}

/* The database is opened first, so that a bad path fails before the measurement. */
static bool validate_run(const struct arguments *arguments, struct error *why)
{
    struct subject subject = {.trace = NULL};
    struct store *store = NULL;
    bool good = validate_load(arguments, &subject, why) && database_open(arguments, &store, why) &&
                validate(arguments, &subject, store, why);
    store_close(store);
    subject_release(&subject);
    return good;
}

static void print_site(enum miniature_site site, const char *title, FILE *out)
{
    fprintf(out, "%s:\n", title);
    for (int id = 0; id < MINIATURE_COUNT; id++) {
        if (miniature_kinds[id].site == site) {
            fprintf(out, "  %-17s", miniature_kinds[id].name);
            table_wrap(miniature_kinds[id].what, 19, out);
            fputc('\n', out);
        }
    }
}

static void print_mechanisms(FILE *out)
{
    print_site(MINIATURE_GPU, "mechanisms", out);
    fputc('\n', out);
    print_site(MINIATURE_HOST, "with --host", out);
}

const struct command command_validate = {
    .name = "validate",
    .operands = "PROFILE TRACE",
    .least_operands = 2,
    .most_operands = 2,
    .summary = "run mechanisms for real, in miniature, and compare their times with predictions",
    .example = "spillway validate --host here.yaml smollm2-135m",
    .options = options,
    .more = print_mechanisms,
    .run = validate_run,
};
