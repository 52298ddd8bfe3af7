/* Of the fitted recording, what matters is how exact its twin is: limits are promised. Of another
 * one, it is whether the band held. */
#include "cli/trace/fit_report.h"

#include "answer/frame.h"
#include "base/text.h"
#include "trace/source.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static const char *const relation_words[] = {
    [FIT_FITTED] = "fitted",
    [FIT_LEARNED] = "not fitted; bands learned from it",
    [FIT_FITTED_AGAIN] = "the fitted recording itself",
    [FIT_LEARNED_AGAIN] = "a recording that the bands were learned from",
    [FIT_TEXT_LEARNED] = "its text is among those that the bands were learned from",
    [FIT_OTHER_MODEL] = "another model: its bands are those for unknown models",
    [FIT_UNSEEN] = "not seen by the fit",
};

/* Do the shipped rows have this model, text and context? */
static bool is_shipped(const struct twin_rows *rows, const struct trace *recording)
{
    const struct trace_header *header = trace_header(recording);
    struct trace_source source;
    trace_source_read(header, &source);
    for (size_t i = 0; i < rows->count; i++) {
        const struct twin_row *row = &rows->row[i];
        if (row->context == header->context && strcmp(row->model, source.model) == 0 &&
            strcmp(row->text, source.text) == 0) {
            return true;
        }
    }
    return false;
}

bool fit_relation_find(const struct fit_learned *learned, const struct beside_twin *check,
                       enum fit_relation *out, struct error *why)
{
    uint64_t hash, other;
    if (!trace_hash(check->recording, &hash, why)) {
        return false;
    }
    for (uint32_t i = 0; i < learned->count; i++) {
        if (!trace_hash(learned->own[i].recording, &other, why)) {
            return false;
        }
        if (hash == other) {
            *out = i == 0 ? FIT_FITTED_AGAIN : FIT_LEARNED_AGAIN;
            return true;
        }
    }
    *out = !check->is_same_model                             ? FIT_OTHER_MODEL
           : is_shipped(&learned->shipped, check->recording) ? FIT_TEXT_LEARNED
                                                             : FIT_UNSEEN;
    return true;
}

/* Is the recording compared with its band? */
static bool has_band(const struct fit_report *report, uint32_t f)
{
    return report->bands->known[f] && report->relation != FIT_FITTED_AGAIN &&
           report->relation != FIT_LEARNED_AGAIN;
}

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
    return report->comparison->is_same_context ? likeness_figures[f].same
                                               : likeness_figures[f].other;
}

static bool is_miss(const struct fit_report *report, uint32_t f)
{
    double off = fit_report_is_of(report, f) - was_of(report, f);
    return promised(report, f) > 0 && !(fabs(off) <= promised(report, f));
}

static bool is_outside(const struct fit_report *report, uint32_t f)
{
    const double *band = report->bands->band[f];
    double was = was_of(report, f);
    return has_band(report, f) && !(was >= band[0] && was <= band[1]);
}

/* What a report marks with "!". */
static bool fit_report_is_marked(const struct fit_report *report, uint32_t f)
{
    return report->outlook != NULL ? is_miss(report, f) : is_outside(report, f);
}

/* ---- JSON ---- */

static json_t *band_json(const struct fit_bands *bands, uint32_t f)
{
    return bands->known[f] ? json_pack("[f, f]", bands->band[f][0], bands->band[f][1])
                           : json_null();
}

static json_t *figure_json(const struct fit_report *report, uint32_t f)
{
    bool again = report->relation == FIT_FITTED_AGAIN || report->relation == FIT_LEARNED_AGAIN;
    json_t *band = again ? json_null() : band_json(report->bands, f);
    json_t *figure = json_pack("{s:f, s:f, s:o, s:f, s:b}", "recording", was_of(report, f), "twin",
                               fit_report_is_of(report, f), "band", band, "promised",
                               promised(report, f), "miss", is_miss(report, f));
    if (report->outlook == NULL) {
        json_object_set_new(figure, "outside", json_boolean(is_outside(report, f)));
        return figure;
    }
    json_t *twice = json_pack("{s:f, s:o}", "twin", report->outlook->is_twice[f], "band",
                              band_json(&report->outlook->twice, f));
    json_object_set_new(figure, "twice_the_context", twice);
    json_object_set_new(figure, "another_model", band_json(&report->outlook->model, f));
    return figure;
}

bool fit_report_json(const struct fit_report *report, struct error *why)
{
    const struct trace *recording = report->comparison->recording;
    struct trace_source source;
    trace_source_read(trace_header(recording), &source);
    json_t *object = json_pack(
        "{s:s, s:s, s:s, s:I, s:I, s:b, s:b, s:s}", "recording", trace_path(recording), "model",
        source.model, "text", source.text, "context", (json_int_t)trace_header(recording)->context,
        "fitted_context", (json_int_t)report->comparison->fitted, "fitted", report->outlook != NULL,
        "learned", report->relation == FIT_LEARNED, "relation", relation_words[report->relation]);
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        json_object_set_new(object, likeness_figures[f].name, figure_json(report, f));
    }
    bool ok = object != NULL && json_dumpf(object, stdout, JSON_REAL_PRECISION(6)) == 0;
    json_decref(object);
    fputc('\n', stdout);
    return ok || error_set(why, "standard output", 0, "cannot be written");
}

/* ---- tables ---- */

/* A band, ".882–.951", or nothing where there is none; `mark` says "!" of what is not within. */
static void put_band(const struct fit_bands *bands, uint32_t f, bool mark, uint32_t column,
                     struct frame *frame)
{
    if (bands->known[f]) {
        frame_textf(frame, column, "%.3f–%.3f%s", bands->band[f][0], bands->band[f][1],
                    mark ? " !" : "");
    }
}

/* The limit of the fitted recording, the band of another one. */
static void put_limit(const struct fit_report *report, uint32_t f, uint32_t column,
                      struct frame *frame)
{
    bool mark = fit_report_is_marked(report, f);
    if (report->outlook == NULL && has_band(report, f)) {
        put_band(report->bands, f, mark, column, frame);
    } else if (report->outlook != NULL && promised(report, f) > 0) {
        frame_textf(frame, column, "%.1f%s", 100 * promised(report, f), mark ? " !" : "");
    }
}

enum { FIGURE, WAS, IS, OFF, LIMIT, WORST, WORST_OFF, WHAT, COLUMNS };

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
    put_limit(report, f, LIMIT, frame);
    frame_textf(frame, WORST, "%u.%u", trace_model_layer(comparison->recording, head / kv_heads),
                head % kv_heads);
    frame_textf(frame, WORST_OFF, "%+.1f",
                100 * (comparison->is.values[f][head] - comparison->was.values[f][head]));
    frame_text(frame, WHAT, likeness_figures[f].summary);
}

/* How many figures of those that have a limit or a band are not within it. */
static void print_judgement(const struct fit_report *report, uint32_t marked)
{
    uint32_t judged = 0;
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        judged += report->outlook != NULL ? promised(report, f) > 0 : has_band(report, f);
    }
    if (report->outlook != NULL) {
        printf("%u of %u figures exceed their promised limits%s\n\n", marked, judged,
               marked > 0 ? " (!)" : "");
    } else if (judged > 0) {
        printf("%u of %u figures outside%s;\nbands of %g %% leave about %.0f of %u outside\n\n",
               marked, judged, marked > 0 ? " their bands (!)" : " their bands", 100 * TWIN_CHANCE,
               (1 - TWIN_CHANCE) * judged, judged);
    } else {
        printf("%s\n\n", report->bands->known[0] ? "not judged" : "no bands");
    }
}

static void print_heading(const struct fit_report *report, uint32_t marked)
{
    const struct trace *recording = report->comparison->recording;
    const struct trace_header *header = trace_header(recording);
    char chosen[LAYER_CHOICE_TEXT];
    layer_choice_write(report->choice, recording, chosen);
    printf("%s, %u step%s at %u tokens%s (%s)\n"
           "beside its twin, a trace generated from the profile: means over heads, points "
           "off, and the head\n"
           "(layer.head) that is furthest off; ",
           trace_path(recording), header->steps, text_plural(header->steps), header->context,
           chosen,
           report->relation == FIT_OTHER_MODEL && !report->bands->known[0]
               ? "another model"
               : relation_words[report->relation]);
    print_judgement(report, marked);
}

static bool print_comparison(const struct fit_report *report, struct error *why)
{
    const struct frame_column columns[COLUMNS] = {
        [FIGURE] = {.title = "figure"},
        [WAS] = {.title = "recording", .unit = ANSWER_REAL, .decimals = 3},
        [IS] = {.title = "twin", .unit = ANSWER_REAL, .decimals = 3},
        [OFF] = {.title = "points off", .unit = ANSWER_REAL},
        [LIMIT] = {.title = report->outlook != NULL ? "promised" : "band", .unit = ANSWER_REAL},
        [WORST] = {.title = "worst head", .unit = ANSWER_REAL},
        [WORST_OFF] = {.title = "off", .unit = ANSWER_REAL},
        [WHAT] = {.title = "what it is", .wrap = true},
    };
    struct frame *frame = frame_create(columns, COLUMNS, why);
    uint32_t marked = 0;
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        fit_report_put_figure(report, f, frame);
        marked += fit_report_is_marked(report, f);
    }
    print_heading(report, marked);
    bool ok = frame_print(frame, NULL, stdout, why);
    putchar('\n');
    frame_destroy(frame);
    return ok;
}

static void put_outlook(const struct fit_report *report, struct frame *frame)
{
    const struct fit_outlook *outlook = report->outlook;
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        frame_row(frame);
        frame_text(frame, 0, likeness_figures[f].name);
        frame_number(frame, 1, fit_report_is_of(report, f));
        put_band(&outlook->text, f, false, 2, frame);
        frame_number(frame, 3, outlook->is_twice[f]);
        put_band(&outlook->twice, f, false, 4, frame);
        put_band(&outlook->model, f, false, 5, frame);
    }
}

static bool print_outlook(const struct fit_report *report, struct error *why)
{
    uint32_t context = report->comparison->fitted;
    char twin[32], twice[32];
    snprintf(twin, sizeof twin, "twin at %u", context);
    snprintf(twice, sizeof twice, "twin at %u", 2 * context);
    const struct frame_column columns[] = {
        {.title = "figure"},
        {.title = twin, .unit = ANSWER_REAL, .decimals = 3},
        {.title = "another text", .unit = ANSWER_REAL},
        {.title = twice, .unit = ANSWER_REAL, .decimals = 3},
        {.title = "text and context", .unit = ANSWER_REAL},
        {.title = "another model", .unit = ANSWER_REAL},
    };
    if (!report->bands->known[0]) {
        printf("no bands: they were measured for demands of %g %% of the context, on all layers "
               "that offload\n\n",
               100 * TWIN_SELECTION);
        return true;
    }
    struct frame *frame = frame_create(columns, 6, why);
    put_outlook(report, frame);
    printf("what other recordings may show: bands for %g %% of the figures, from the models and "
           "texts that were measured\n\n",
           100 * TWIN_CHANCE);
    bool ok = frame_print(frame, NULL, stdout, why);
    putchar('\n');
    frame_destroy(frame);
    return ok;
}

bool fit_report_table(const struct fit_report *report, struct error *why)
{
    return print_comparison(report, why) && (report->outlook == NULL || print_outlook(report, why));
}
