/* `spillway trace fit`: fits a profile to a recording, and reports how its twin, a trace generated
 * from the profile, differs from the recording. */
#include "base/named.h"
#include "base/units.h"
#include "cli/frame/commands.h"
#include "cli/frame/output.h"
#include "cli/frame/table.h"
#include "cli/trace/beside_twin.h"
#include "cli/trace/layer_choice.h"
#include "cli/trace/trace_argument.h"
#include "trace/fit/fit.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

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
               .argument = "TRACE",
               .summary = "also compare with this recording, which the fit does not use",
               .repeats = true},
    [LAYERS] = {.name = "--layers", .argument = "LIST", .summary = layer_choice_summary},
    [SEED] = {.name = "--seed",
              .argument = "NUMBER",
              .summary = "seed of the twins in the report (default: 1)"},
    [JSON] = {.name = "--json", .summary = "print one JSON object per report"},
    {.name = NULL},
};

/* The promised limit on the error of figure `f`'s mean; 0: none. */
static double promised(const struct beside_twin *comparison, uint32_t f)
{
    return comparison->is_same_context ? likeness_figures[f].same : likeness_figures[f].other;
}

static bool is_miss(const struct beside_twin *comparison, uint32_t f)
{
    double off = likeness_mean(&comparison->is, f) - likeness_mean(&comparison->was, f);
    return promised(comparison, f) > 0 && !(fabs(off) <= promised(comparison, f));
}

/* ---- JSON ---- */

static bool print_json(const struct beside_twin *comparison, struct error *why)
{
    json_t *object = json_pack("{s:s, s:b}", "recording", trace_path(comparison->recording),
                               "fitted", comparison->is_own);
    for (uint32_t f = 0; f < LIKENESS_FIGURES; f++) {
        json_t *figure =
            json_pack("{s:f, s:f, s:f, s:b}", "recording", likeness_mean(&comparison->was, f),
                      "twin", likeness_mean(&comparison->is, f), "promised",
                      promised(comparison, f), "miss", is_miss(comparison, f));
        json_object_set_new(object, likeness_figures[f].name, figure);
    }
    bool ok = object != NULL && json_dumpf(object, stdout, JSON_REAL_PRECISION(6)) == 0;
    json_decref(object);
    fputc('\n', stdout);
    return ok || error_set(why, "standard output", 0, "cannot be written");
}

/* ---- table ---- */

static const struct table_column columns[] = {
    {.title = "figure"},
    {.title = "recording", .right = true},
    {.title = "twin", .right = true},
    {.title = "points off", .right = true},
    {.title = "promised", .right = true},
    {.title = "worst head", .right = true},
    {.title = "off", .right = true},
    {.title = "what it is", .wrap = true},
};

static bool add_figure(struct table *table, const struct beside_twin *comparison, uint32_t f,
                       struct error *why)
{
    char was[16], is[16], off[16], promise[16] = "", worst[16], worst_off[16];
    uint32_t kv_heads = trace_header(comparison->recording)->kv_heads;
    uint32_t head = likeness_worst(&comparison->was, &comparison->is, f);
    double before = likeness_mean(&comparison->was, f), now = likeness_mean(&comparison->is, f);
    snprintf(was, sizeof was, "%.3f", before);
    snprintf(is, sizeof is, "%.3f", now);
    snprintf(off, sizeof off, "%+.1f%s", 100 * (now - before), is_miss(comparison, f) ? " !" : "");
    if (promised(comparison, f) > 0) {
        snprintf(promise, sizeof promise, "%.1f", 100 * promised(comparison, f));
    }
    snprintf(worst, sizeof worst, "%u.%u",
             trace_model_layer(comparison->recording, head / kv_heads), head % kv_heads);
    snprintf(worst_off, sizeof worst_off, "%+.1f",
             100 * (comparison->is.values[f][head] - comparison->was.values[f][head]));
    const char *texts[] = {likeness_figures[f].name,
                           was,
                           is,
                           off,
                           promise[0] != '\0' ? promise : NULL,
                           worst,
                           worst_off,
                           likeness_figures[f].summary};
    return table_add(table, texts, 8, why);
}

static bool print_table(const struct beside_twin *comparison, const struct layer_choice *choice,
                        struct error *why)
{
    const struct trace_header *header = trace_header(comparison->recording);
    char chosen[LAYER_CHOICE_TEXT];
    struct table *table = table_create(columns, 8, why);
    bool ok = table != NULL;
    uint32_t misses = 0;
    for (uint32_t f = 0; ok && f < LIKENESS_FIGURES; f++) {
        ok = add_figure(table, comparison, f, why);
        misses += is_miss(comparison, f);
    }
    layer_choice_write(choice, comparison->recording, chosen);
    if (ok) {
        printf("%s, %u steps at %u tokens%s (%s)\n"
               "beside its twin, a trace generated from the profile: means over heads, points "
               "off, and the head\n"
               "(layer.head) that is furthest off; %u figures off by more than promised (!)\n"
               "\n",
               trace_path(comparison->recording), header->steps, header->context, chosen,
               comparison->is_own ? "fitted" : "not seen by the fit", misses);
        table_print(table, stdout);
        putchar('\n');
    }
    table_destroy(table);
    return ok;
}

/* ---- the command ---- */

static bool report(const struct arguments *arguments, const struct fitted *fitted,
                   struct trace *recording, const struct layer_choice *choice, struct error *why)
{
    struct beside_twin comparison;
    bool ok = beside_twin_make(fitted, recording, &comparison, why) &&
              (arguments_given(arguments, JSON) ? print_json(&comparison, why)
                                                : print_table(&comparison, choice, why));
    beside_twin_release(&comparison);
    return ok;
}

static bool report_checks(const struct arguments *arguments, const struct fitted *fitted,
                          struct error *why)
{
    uint32_t count;
    const char *const *names = arguments_all(arguments, CHECK, &count);
    for (uint32_t i = 0; i < count; i++) {
        char path[4096];
        struct layer_choice choice;
        if (!named_file(&named_trace, names[i], NULL, 0, path, sizeof path, why)) {
            return false;
        }
        struct trace *other = trace_open(path, why);
        bool ok = other != NULL &&
                  layer_choice_apply(other, arguments_text(arguments, LAYERS), &choice, why) &&
                  report(arguments, fitted, other, &choice, why);
        trace_close(other);
        if (!ok) {
            return false;
        }
    }
    return true;
}

static bool write_profile(const struct trace_profile *profile, const char *path, struct error *why)
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

static bool read_request(const struct arguments *arguments, struct fitted *fitted,
                         struct error *why)
{
    const char *share = arguments_text(arguments, SELECTION),
               *seed = arguments_text(arguments, SEED);
    return (share == NULL ||
            units_parse(share, UNIT_SHARE, NULL, 0, "--selection", &fitted->share, why)) &&
           (seed == NULL ||
            units_parse_whole(seed, UNIT_COUNT, UINT32_MAX, NULL, 0, "--seed", &fitted->seed, why));
}

static bool run(const struct arguments *arguments, struct error *why)
{
    struct trace_profile profile = {0};
    struct layer_choice choice;
    struct fitted fitted = {.profile = &profile, .share = 0.1, .seed = 1};
    if (!read_request(arguments, &fitted, why)) {
        return false;
    }
    struct trace *recording = trace_from_arguments(arguments, why);
    fitted.recording = recording;
    bool ok = recording != NULL &&
              layer_choice_apply(recording, arguments_text(arguments, LAYERS), &choice, why) &&
              trace_fit(recording, fitted.share, 0, &profile, why) &&
              write_profile(&profile, arguments_text(arguments, OUTPUT), why) &&
              report(arguments, &fitted, recording, &choice, why) &&
              report_checks(arguments, &fitted, why);
    trace_profile_release(&profile);
    trace_close(recording);
    return ok;
}

const struct command command_trace_fit = {
    .name = "trace fit",
    .operands = "TRACE",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "fit a trace profile to a recording, and report how well it matches",
    .example = "spillway trace fit smollm2-135m -o smollm2.yaml",
    .options = options,
    .run = run,
};
