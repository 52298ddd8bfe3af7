/* Limits are promised for texts of the fitted model, at its context and at others. */
#include "cli/trace/fit_report.h"

#include "tables/frame.h"
#include "core/json_writer.h"
#include "core/text.h"
#include "trace/demand.h"

#include <math.h>

static double was_of(const struct fit_report *report, uint32_t f)
{
    return likeness_mean(&report->comparison->was, f);
}

static double fit_report_is_of(const struct fit_report *report, uint32_t f)
{
    return likeness_mean(&report->comparison->is, f);
}

/* The promised limit on the error of figure `f`'s mean; 0: none. */
static double promised(const struct fit_report *report, uint32_t f)
{
    return !report->comparison->is_same_model    ? 0
           : report->comparison->is_same_context ? likeness_figures[f].same
                                                 : likeness_figures[f].other;
}

static bool is_miss(const struct fit_report *report, uint32_t f)
{
    double off = fit_report_is_of(report, f) - was_of(report, f);
    return promised(report, f) > 0 && !(fabs(off) <= promised(report, f));
}

/* ---- JSON ---- */

enum { DIGITS = 6 };

static void fit_report_print_figure(const struct fit_report *report, uint32_t f,
                                    struct json_writer *json)
{
    json_begin(json, likeness_figures[f].name, '{');
    json_put_number(json, "recording", was_of(report, f), DIGITS);
    json_put_number(json, "twin", fit_report_is_of(report, f), DIGITS);
    json_put_number(json, "promised", promised(report, f), DIGITS);
    json_put(json, "miss", is_miss(report, f) ? "true" : "false");
    if (report->comparison->is_own) {
        json_put_number(json, "twice_the_context", report->is_twice[f], DIGITS);
    }
    json_end(json, '}');
}

bool fit_report_json(const struct fit_report *report, struct error *why)
{
    const struct beside_twin *comparison = report->comparison;
    const struct trace_header *header = trace_header(comparison->recording);
    struct trace_source source;
    struct json_writer json = {.out = stdout};
    trace_source_read(header, &source);
    json_begin(&json, NULL, '{');
    json_put_text(&json, "recording", trace_path(comparison->recording));
    json_put_text(&json, "model", source.model);
    json_put_text(&json, "text", source.text);
    json_put(&json, "context", "%u", header->context);
    json_put(&json, "fitted_context", "%u", comparison->fitted);
    json_put(&json, "fitted", comparison->is_own ? "true" : "false");
    json_put_number(&json, "selection", report->fitted->share, DIGITS);
    json_put(&json, "layers", "%u", header->layers);
    json_put(&json, "chosen_layers", report->chosen ? "true" : "false");
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        fit_report_print_figure(report, f, &json);
    }
    json_end(&json, '}');
    putchar('\n');
    return !json.bad || error_set(why, "standard output", 0, "cannot be written");
}

/* ---- the table ---- */

enum { FIGURE, WAS, IS, OFF, LIMIT, WORST, WORST_OFF, TWICE, WHAT, COLUMNS };

static void fit_report_put_figure(const struct fit_report *report, uint32_t f, struct frame *frame)
{
    const struct beside_twin *comparison = report->comparison;
    uint32_t kv_heads = trace_header(comparison->recording)->kv_heads;
    uint32_t head = likeness_worst(&comparison->was, &comparison->is, f);
    frame_row(frame);
    frame_text(frame, FIGURE, likeness_figures[f].name);
    frame_number(frame, WAS, was_of(report, f));
    frame_number(frame, IS, fit_report_is_of(report, f));
    frame_textf(frame, OFF, "%+.1f", 100 * (fit_report_is_of(report, f) - was_of(report, f)));
    if (promised(report, f) > 0) {
        frame_textf(frame, LIMIT, "%.1f%s", 100 * promised(report, f),
                    is_miss(report, f) ? " !" : "");
    }
    frame_textf(frame, WORST, "%u.%u", trace_model_layer(comparison->recording, head / kv_heads),
                head % kv_heads);
    frame_textf(frame, WORST_OFF, "%+.1f",
                100 * (comparison->is.values[f][head] - comparison->was.values[f][head]));
    frame_number(frame, TWICE, comparison->is_own ? report->is_twice[f] : (double)NAN);
    frame_text(frame, WHAT, likeness_figures[f].summary);
}

static void print_heading(const struct fit_report *report)
{
    const struct beside_twin *comparison = report->comparison;
    const struct trace_header *header = trace_header(comparison->recording);
    char chosen[LAYER_CHOICE_TEXT];
    uint32_t misses = 0, judged = 0;
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        judged += promised(report, f) > 0;
        misses += is_miss(report, f);
    }
    layer_choice_write(report->choice, comparison->recording, chosen);
    printf("%s, %u step%s at %u tokens%s (%s)\n"
           "beside its twin, a trace generated from the profile: means over heads, points "
           "off, and the head\n"
           "(layer.head) that is furthest off",
           trace_path(comparison->recording), header->steps, text_plural(header->steps),
           header->context, chosen,
           comparison->is_own          ? "fitted"
           : comparison->is_same_model ? "not fitted"
                                       : "another model");
    if (judged > 0) {
        printf("; %u of %u figures exceed their promised limits%s", misses, judged,
               misses > 0 ? " (!)" : "");
    }
    fputs("\n\n", stdout);
}

bool fit_report_table(const struct fit_report *report, struct error *why)
{
    char twice[32];
    snprintf(twice, sizeof twice, "at %u", 2 * report->comparison->fitted);
    const struct frame_column columns[COLUMNS] = {
        [FIGURE] = {.title = "figure"},
        [WAS] = {.title = "recording", .unit = UNIT_COUNT, .decimals = 3},
        [IS] = {.title = "twin", .unit = UNIT_COUNT, .decimals = 3},
        [OFF] = {.title = "points off", .unit = UNIT_COUNT},
        [LIMIT] = {.title = "promised", .unit = UNIT_COUNT, .optional = true},
        [WORST] = {.title = "worst head", .unit = UNIT_COUNT},
        [WORST_OFF] = {.title = "off", .unit = UNIT_COUNT},
        [TWICE] = {.title = twice, .unit = UNIT_COUNT, .decimals = 3, .optional = true},
        [WHAT] = {.title = "what it is", .wrap = true},
    };
    struct frame *frame = frame_create(columns, COLUMNS, why);
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        fit_report_put_figure(report, f, frame);
    }
    print_heading(report);
    bool ok = frame_print(frame, NULL, stdout, why);
    putchar('\n');
    frame_destroy(frame);
    return ok;
}
