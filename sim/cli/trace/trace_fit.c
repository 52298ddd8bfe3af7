/* `spillway trace fit`: fits a profile to a recording, and reports how its twin, a trace generated
 * from the profile, differs from the recording and from others. */
#include "core/units.h"
#include "cli/frame/arguments.h"
#include "cli/frame/command.h"
#include "cli/frame/output.h"
#include "cli/trace/fit_report.h"
#include "cli/trace/trace_argument.h"
#include "trace/fit/fit.h"

enum { OUTPUT, SELECTION, CHECK, LAYERS, SEED, JSON };

static const struct command_option options[] = {
    [OUTPUT] = {.name = "--output",
                .letter = 'o',
                .argument = "FILE",
                .summary = "the profile to write (.yaml); without it, only the report is printed"},
    [SELECTION] = {.name = "--selection",
                   .argument = "SHARE",
                   .summary = "share of the context in each demand (default: 10%)"},
    [CHECK] = {.name = "--check",
               .argument = "TRACE,...",
               .list = true,
               .summary = "also compare with these recordings, from which nothing is learned"},
    [LAYERS] = {.name = "--layers",
                .argument = "N,...",
                .list = true,
                .summary = layer_choice_summary},
    [SEED] = {.name = "--seed",
              .argument = "NUMBER",
              .summary =
                  "seed of the first of the four twins whose means are reported (default: 1)"},
    [JSON] = {.name = "--json", .summary = "print one JSON object per report"},
    {.name = NULL},
};

/* One of the user's recordings. */
struct trace_fit_recording {
    struct trace *trace;
    struct layer_choice choice;
};

static bool recording_open(const struct arguments *arguments, const char *name,
                           struct trace_fit_recording *out, struct error *why)
{
    return (out->trace = trace_named(name, why)) != NULL &&
           layer_choice_apply(out->trace, arguments_text(arguments, LAYERS), &out->choice, why);
}

/* Report a recording beside its twin. */
static bool report_recording(const struct arguments *arguments, const struct fitted *fitted,
                             const struct trace_fit_recording *recording, struct error *why)
{
    struct beside_twin comparison;
    struct fit_report report = {.comparison = &comparison,
                                .choice = &recording->choice,
                                .fitted = fitted,
                                .chosen = arguments_given(arguments, LAYERS)};
    bool ok = beside_twin_make(fitted, recording->trace, &comparison, why) &&
              (!comparison.is_own ||
               beside_twin_at(fitted, 2 * fitted->profile->context, report.is_twice, why)) &&
              (arguments_given(arguments, JSON) ? fit_report_json : fit_report_table)(&report, why);
    beside_twin_release(&comparison);
    return ok;
}

static bool report_checks(const struct arguments *arguments, const struct fitted *fitted,
                          struct error *why)
{
    uint32_t count;
    const char *const *names = arguments_all(arguments, CHECK, &count);
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        struct trace_fit_recording other = {.trace = NULL};
        ok = recording_open(arguments, names[i], &other, why) &&
             report_recording(arguments, fitted, &other, why);
        trace_close(other.trace);
    }
    return ok;
}

static bool trace_fit_write_profile(const struct trace_profile *profile, const char *path,
                                    struct error *why)
{
    struct output output;
    if (path == NULL) {
        return true;
    }
    if (!output_open(path, &output, why)) {
        return false;
    }
    trace_profile_write(profile, output.file);
    return output_commit(&output, why);
}

static bool trace_fit_read_request(const struct arguments *arguments, struct fitted *fitted,
                                   struct error *why)
{
    const char *share = arguments_text(arguments, SELECTION),
               *seed = arguments_text(arguments, SEED);
    return (share == NULL ||
            units_parse(share, UNIT_SHARE, NULL, 0, "--selection", &fitted->share, why)) &&
           (seed == NULL ||
            units_parse_whole(seed, UNIT_COUNT, UINT32_MAX, NULL, 0, "--seed", &fitted->seed, why));
}

static bool trace_fit_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    struct trace_profile profile = {0};
    struct trace_fit_recording recording = {.trace = NULL};
    struct fitted fitted = {.profile = &profile, .share = 0.1, .seed = 1};
    bool ok = trace_fit_read_request(arguments, &fitted, why) &&
              recording_open(arguments, arguments_operands(arguments, &count)[0], &recording, why);
    fitted.recording = recording.trace;
    ok = ok && trace_fit(recording.trace, fitted.share, 0, &profile, why) &&
         trace_fit_write_profile(&profile, arguments_text(arguments, OUTPUT), why) &&
         report_recording(arguments, &fitted, &recording, why) &&
         report_checks(arguments, &fitted, why);
    trace_profile_release(&profile);
    trace_close(recording.trace);
    return ok;
}

const struct command command_trace_fit = {
    .name = "trace fit",
    .operands = "TRACE",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "fit a trace profile to a recording, and report how well it matches",
    .example = "spillway trace fit smollm2-135m -o smollm2.yaml\n"
               "spillway trace fit smollm2-135m --check smollm2-135m-code,other.swt",
    .options = options,
    .run = trace_fit_run,
};
