/* `spillway trace fit`: fits a profile to a recording, and reports how its twin, a trace generated
 * from the profile, differs from the recording and from others. */
#include "base/array.h"
#include "base/find.h"
#include "base/units.h"
#include "cli/frame/arguments.h"
#include "cli/frame/commands.h"
#include "cli/frame/output.h"
#include "cli/trace/beside_twin.h"
#include "cli/trace/fit_report.h"
#include "cli/trace/layer_choice.h"
#include "cli/trace/trace_argument.h"
#include "trace/fit/fit.h"

#include <math.h>
#include <stdlib.h>

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

/* A fit, and what its reports need. */
struct fitting {
    struct trace_profile profile;
    struct fitted fitted;
    struct trace_fit_recording *recordings; /* [count] the fitted one first */
    struct beside_twin *own;                /* [made] of these */
    uint32_t count;
    struct fit_learned learned;
};

static bool recording_open(const struct arguments *arguments, const char *name,
                           struct trace_fit_recording *out, struct error *why)
{
    return (out->trace = trace_named(name, why)) != NULL &&
           layer_choice_apply(out->trace, arguments_text(arguments, LAYERS), &out->choice, why);
}

/* ---- reports ---- */

static bool print_report(const struct arguments *arguments, const struct fitting *fitting,
                         const struct fit_report *report, struct error *why)
{
    struct fit_bands bands;
    struct fit_report full = *report;
    full.bands = &bands;
    return fit_bands_find(&fitting->learned, report->comparison, &bands, why) &&
           (arguments_given(arguments, JSON) ? fit_report_json(&full, why)
                                             : fit_report_table(&full, why));
}

static bool report_own(const struct arguments *arguments, const struct fitting *fitting,
                       struct error *why)
{
    struct fit_outlook outlook;
    bool ok = fit_outlook_find(&fitting->learned, &fitting->fitted, &outlook, why);
    for (uint32_t i = 0; ok && i < fitting->count; i++) {
        struct fit_report report = {
            .comparison = &fitting->own[i],
            .choice = &fitting->recordings[i].choice,
            .outlook = i == 0 ? &outlook : NULL,
            .relation = i == 0 ? FIT_FITTED : FIT_LEARNED,
        };
        ok = print_report(arguments, fitting, &report, why);
    }
    return ok;
}

static bool report_checks(const struct arguments *arguments, const struct fitting *fitting,
                          struct error *why)
{
    uint32_t count;
    const char *const *names = arguments_all(arguments, CHECK, &count);
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        struct trace_fit_recording other = {.trace = NULL};
        struct beside_twin comparison = {.recording = NULL};
        struct fit_report report = {.comparison = &comparison, .choice = &other.choice};
        ok = recording_open(arguments, names[i], &other, why) &&
             beside_twin_make(&fitting->fitted, other.trace, &comparison, why) &&
             fit_relation_find(&fitting->learned, &comparison, &report.relation, why) &&
             print_report(arguments, fitting, &report, why);
        beside_twin_release(&comparison);
        trace_close(other.trace);
    }
    return ok;
}

/* ---- the fit ---- */

static bool fitting_open(const struct arguments *arguments, struct fitting *fitting,
                         struct error *why)
{
    const char *const *names = arguments_operands(arguments, &fitting->count);
    char path[4096];
    if (!(fitting->recordings = array_zeroed(fitting->count, sizeof *fitting->recordings, why)) ||
        !(fitting->own = array_zeroed(fitting->count, sizeof *fitting->own, why)) ||
        !find_path("traces", "twins", "json", path, sizeof path, why) ||
        !twin_rows_load(path, &fitting->learned.shipped, why)) {
        return false;
    }
    for (uint32_t i = 0; i < fitting->count; i++) {
        struct trace *first = fitting->recordings[0].trace;
        if (!recording_open(arguments, names[i], &fitting->recordings[i], why)) {
            return false;
        }
        if (i > 0 && !beside_twin_same_model(fitting->recordings[i].trace, first)) {
            error_set(why, trace_path(fitting->recordings[i].trace), 0,
                      "not a recording of the model of %s", trace_path(first));
            return error_expect(why, "recordings of one model; others with --check");
        }
    }
    fitting->learned.is_like_shipped =
        !arguments_given(arguments, LAYERS) && fabs(fitting->fitted.share - TWIN_SELECTION) < 1e-9;
    fitting->fitted.recording = fitting->recordings[0].trace;
    fitting->fitted.profile = &fitting->profile;
    return true;
}

/* All recordings beside twins of the first. */
static bool learn(struct fitting *fitting, struct error *why)
{
    fitting->learned.own = fitting->own;
    for (uint32_t i = 0; i < fitting->count; i++) {
        if (!beside_twin_make(&fitting->fitted, fitting->recordings[i].trace, &fitting->own[i],
                              why)) {
            return false;
        }
        fitting->learned.count++;
    }
    return true;
}

static void fitting_release(struct fitting *fitting)
{
    for (uint32_t i = 0; i < fitting->count; i++) {
        if (fitting->own != NULL) {
            beside_twin_release(&fitting->own[i]);
        }
        if (fitting->recordings != NULL) {
            trace_close(fitting->recordings[i].trace);
        }
    }
    twin_rows_release(&fitting->learned.shipped);
    trace_profile_release(&fitting->profile);
    free(fitting->recordings);
    free(fitting->own);
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
    struct fitting fitting = {.fitted = {.share = TWIN_SELECTION, .seed = 1}};
    bool ok = trace_fit_read_request(arguments, &fitting.fitted, why) &&
              fitting_open(arguments, &fitting, why) &&
              trace_fit(fitting.fitted.recording, fitting.fitted.share, 0, &fitting.profile, why) &&
              trace_fit_write_profile(&fitting.profile, arguments_text(arguments, OUTPUT), why) &&
              learn(&fitting, why) && report_own(arguments, &fitting, why) &&
              report_checks(arguments, &fitting, why);
    fitting_release(&fitting);
    return ok;
}

const struct command command_trace_fit = {
    .name = "trace fit",
    .operands = "TRACE...",
    .least_operands = 1,
    .most_operands = UINT32_MAX,
    .summary = "fit a trace profile to a recording, and report how well it matches",
    .example = "spillway trace fit smollm2-135m -o smollm2.yaml\n"
               "spillway trace fit smollm2-135m smollm2-135m-code --check other.swt",
    .options = options,
    .run = trace_fit_run,
};
