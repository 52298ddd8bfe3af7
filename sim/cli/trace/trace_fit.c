/* `spillway trace fit`: fits a profile to a recording, and reports how its twin, a trace generated
 * from the profile, differs from the recording and from others. */

#include <string.h>

#include "cli/frame/output.h"
#include "cli/trace/trace_argument.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "tables/frame.h"
#include "decode/replay/likeness.h"
#include "trace/fit/fit.h"
#include "trace/generate/generate.h"

/* A twin is drawn at random, and parts of it last for most of its steps: over 18 heads and 128
 * steps, reuse and mass differ by a point or two from seed to seed. Its figures are means over such twins. */
enum { TWIN_DRAWS = 4 };

/* What was fitted. */
struct fitted {
    const struct trace *recording;
    const struct trace_profile *profile;
    double share; /* of the context that a demand asks for */
};

/* A recording, and the mean of TWIN_DRAWS twins. What follows from several reports: traces/twin_bands.py. */
struct beside_twin {
    const struct fitted *fitted;
    struct trace *recording;    /* the caller's */
    struct layer_choice choice; /* of its layers */
    bool chosen;                /* by --layers */
    bool is_own;                /* this recording was fitted */
    bool is_same_model;
    double was[LIKENESS_FIGURES], is[LIKENESS_FIGURES];
    double is_twice[LIKENESS_FIGURES]; /* of the fitted recording: the twin at twice the context */
};

/* Fails if units or window differ, or the layers of one model. */
static bool check_alike(struct beside_twin *report, struct error *why)
{
    const struct trace *fitted = report->fitted->recording, *recording = report->recording;
    const struct trace_profile *profile = report->fitted->profile;
    const struct trace_header *a = trace_header(fitted), *b = trace_header(recording);
    struct trace_source source_a, source_b;
    uint32_t at;
    trace_source_read(a, &source_a);
    trace_source_read(b, &source_b);
    report->is_own = recording == fitted;
    report->is_same_model = strcmp(source_a.model, source_b.model) == 0 &&
                            a->kv_heads == b->kv_heads && a->query_heads == b->query_heads &&
                            a->head_dim == b->head_dim;
    if (b->unit_tokens != 1 || b->sinks != profile->sinks || b->recent != profile->recent) {
        error_set(why, trace_path(recording), 0,
                  "its units or window differ from those of the fitted recording");
        return error_expect(why, "units of 1 token, %u sinks, %u recent tokens", profile->sinks,
                            profile->recent);
    }
    bool same = !report->is_same_model || b->layers == profile->layers;
    for (uint32_t layer = 0; report->is_same_model && same && layer < b->layers; layer++) {
        same = trace_find_layer(fitted, trace_model_layer(recording, layer), &at);
    }
    return same || (error_set(why, trace_path(recording), 0,
                              "its layers are not those of the model that were fitted"),
                    error_expect(why, "layers that both have, by --layers"));
}

/* The mean figures of twins at `context` tokens. */
static bool draw_twins(const struct fitted *fitted, const struct trace_profile *profile,
                       const struct trace *recording, uint32_t context, double is[LIKENESS_FIGURES],
                       struct error *why)
{
    bool ok = true;
    struct trace_geometry geometry = trace_geometry_of(trace_header(recording));
    geometry.context = context;
    memset(is, 0, LIKENESS_FIGURES * sizeof *is);
    for (uint64_t seed = 1; ok && seed <= TWIN_DRAWS; seed++) {
        double one[LIKENESS_FIGURES];
        geometry.seed = seed;
        struct trace *twin = trace_open_generated(profile, "twin", &geometry, why);
        ok = twin != NULL && likeness_measure(twin, fitted->share, 0, one, why);
        for (uint32_t f = 0; ok && f < LIKENESS_FIGURES; f++) {
            is[f] += one[f] / TWIN_DRAWS;
        }
        trace_close(twin);
    }
    return ok;
}

enum { DIGITS = 6 };

static bool fit_report_json(const struct beside_twin *report, struct error *why)
{
    const struct trace_header *header = trace_header(report->recording);
    struct trace_source source;
    struct json_writer json = {.out = stdout};
    trace_source_read(header, &source);
    json_begin(&json, NULL, '{');
    json_put_text(&json, "recording", trace_path(report->recording));
    json_put_text(&json, "model", source.model);
    json_put_text(&json, "text", source.text);
    json_put(&json, "context", "%u", header->context);
    json_put(&json, "fitted_context", "%u", report->fitted->profile->context);
    json_put(&json, "fitted", report->is_own ? "true" : "false");
    json_put_number(&json, "selection", report->fitted->share, DIGITS);
    json_put(&json, "layers", "%u", header->layers);
    json_put(&json, "chosen_layers", report->chosen ? "true" : "false");
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        json_begin(&json, likeness_figures[f].name, '{');
        json_put_number(&json, "recording", report->was[f], DIGITS);
        json_put_number(&json, "twin", report->is[f], DIGITS);
        if (report->is_own) {
            json_put_number(&json, "twice_the_context", report->is_twice[f], DIGITS);
        }
        json_end(&json, '}');
    }
    json_end(&json, '}');
    putchar('\n');
    return !json.bad || error_set(why, "standard output", 0, "cannot be written");
}

enum { FIGURE, WAS, IS, WHAT, COLUMNS };

static const struct frame_column columns[COLUMNS] = {
    [FIGURE] = {.title = "figure"},
    [WAS] = {.title = "recording", .unit = UNIT_COUNT, .decimals = 3},
    [IS] = {.title = "twin", .unit = UNIT_COUNT, .decimals = 3},
    [WHAT] = {.title = "what it is", .wrap = true},
};

static bool fit_report_table(const struct beside_twin *report, struct error *why)
{
    const struct trace_header *header = trace_header(report->recording);
    char chosen[LAYER_CHOICE_TEXT];
    struct frame *frame = frame_create(columns, COLUMNS, why);
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        frame_row(frame);
        frame_text(frame, FIGURE, likeness_figures[f].name);
        frame_number(frame, WAS, report->was[f]);
        frame_number(frame, IS, report->is[f]);
        frame_text(frame, WHAT, likeness_figures[f].summary);
    }
    layer_choice_write(&report->choice, report->recording, chosen);
    printf("%s, %u step%s at %u tokens%s (%s), and its twin: means over heads\n\n",
           trace_path(report->recording), header->steps, text_plural(header->steps),
           header->context, chosen,
           report->is_own          ? "fitted"
           : report->is_same_model ? "not fitted"
                                   : "another model");
    bool ok = frame_print(frame, NULL, stdout, why);
    putchar('\n');
    frame_destroy(frame);
    return ok;
}

enum { OUTPUT, SELECTION, CHECK, LAYERS, JSON };

static const struct command_option options[] = {
    [OUTPUT] = {"--output", "FILE",
                "the profile to write (.yaml); without it, only the report is printed",
                .letter = 'o'},
    [SELECTION] = {"--selection", "SHARE", "share of the context in each demand (default: 10%)"},
    [CHECK] = {"--check", "TRACE,...",
               "also compare with these recordings, from which nothing is learned", .list = true},
    [LAYERS] = {"--layers", "N,...", layer_choice_summary, .list = true},
    [JSON] = {"--json", NULL, "print one JSON object per report"},
    {.name = NULL},
};

static bool recording_open(const struct arguments *arguments, const char *name,
                           struct beside_twin *out, struct error *why)
{
    out->chosen = arguments_given(arguments, LAYERS);
    return (out->recording = trace_named(name, why)) != NULL &&
           layer_choice_apply(arguments, out->recording, &out->choice, why);
}

static bool report_recording(const struct arguments *arguments, struct beside_twin *report,
                             struct error *why)
{
    const struct fitted *fitted = report->fitted;
    struct trace *recording = report->recording;
    return check_alike(report, why) &&
           likeness_measure(recording, fitted->share, 0, report->was, why) &&
           draw_twins(fitted, fitted->profile, recording, trace_header(recording)->context,
                      report->is, why) &&
           (!report->is_own || draw_twins(fitted, fitted->profile, fitted->recording,
                                          2 * fitted->profile->context, report->is_twice, why)) &&
           (arguments_given(arguments, JSON) ? fit_report_json : fit_report_table)(report, why);
}

static bool report_checks(const struct arguments *arguments, const struct fitted *fitted,
                          struct error *why)
{
    uint32_t count;
    const char *const *names = arguments_all(arguments, CHECK, &count);
    bool ok = true;
    for (uint32_t i = 0; ok && i < count; i++) {
        struct beside_twin other = {.fitted = fitted};
        ok = recording_open(arguments, names[i], &other, why) &&
             report_recording(arguments, &other, why);
        trace_close(other.recording);
    }
    return ok;
}

static bool trace_fit_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    const char *path = arguments_text(arguments, OUTPUT);
    struct output output;
    struct trace_profile profile = {0};
    struct fitted fitted = {.profile = &profile};
    struct beside_twin own = {.fitted = &fitted};
    bool ok = selection_from_arguments(arguments, &fitted.share, why) &&
              recording_open(arguments, arguments_operands(arguments, &count)[0], &own, why);
    fitted.recording = own.recording;
    ok = ok && trace_fit(own.recording, fitted.share, 0, &profile, why);
    if (ok && path != NULL && (ok = output_open(path, &output, why))) {
        trace_profile_write(&profile, false, output.file);
        ok = output_commit(&output, why);
    }
    ok = ok && report_recording(arguments, &own, why) && report_checks(arguments, &fitted, why);
    trace_profile_release(&profile);
    trace_close(own.recording);
    return ok;
}

const struct command command_trace_fit = {
    .name = "trace fit",
    .operands = "TRACE",
    .summary = "fit a trace profile to a recording, and report how well it matches",
    .example = "spillway trace fit smollm2-135m -o smollm2.yaml\n"
               "spillway trace fit smollm2-135m --check smollm2-135m-code,other.swt",
    .options = options,
    .run = trace_fit_run,
};
