/* `spillway trace stats`: measures how reusable the demands of a trace are. */
#include "tables/frame.h"
#include "core/json_writer.h"
#include "cli/trace/trace_argument.h"
#include "trace/fit/fit_locality.h"

#include <inttypes.h>
#include <math.h>

enum { SELECTION, LAYERS, JSON };

static const struct command_option options[] = {
    [SELECTION] = {"--selection", "SHARE", "share of the context in each demand (default: 10%)"},
    [LAYERS] = {"--layers", "N,...", layer_choice_summary, .list = true},
    [JSON] = {"--json", NULL, "print a JSON object, with the figures of every head"},
    {.name = NULL},
};

/* What is printed of a trace. */
struct stats_command_measured {
    struct trace_selection selection;
    struct trace_stats stats;
    struct fit_locality locality;
};

/* Clusters of tokens have no neighbours, and a single head none that is alike. */
static bool has_neighbours(const struct trace *trace)
{
    return trace_header(trace)->unit_kind == TRACE_POSITIONS;
}

static bool has_others(const struct trace *trace)
{
    return trace_header(trace)->kv_heads > 1;
}

enum { DIGITS = 6 };

static void stats_command_print_json(const struct trace *trace,
                                     const struct stats_command_measured *measured)
{
    const struct trace_selection *selection = &measured->selection;
    const struct trace_stats *stats = &measured->stats;
    struct json_writer json = {.out = stdout};
    json_begin(&json, NULL, '{');
    json_put_number(&json, "selection", selection->share, DIGITS);
    json_put(&json, "sinks", "%u", selection->sinks);
    json_put(&json, "recent", "%u", selection->recent);
    for (int f = 0; f < TRACE_FIGURES; f++) {
        json_put_number(&json, trace_figures[f].name, stats->overall[f], DIGITS);
    }
    const struct fit_locality *locality = &measured->locality;
    json_begin(&json, "near", '[');
    for (int width = 0; has_neighbours(trace) && width < PROFILE_WIDTHS; width++) {
        json_put_number(&json, NULL, locality->near[width], DIGITS);
    }
    json_end(&json, ']');
    json_put_number(&json, "alike", has_others(trace) ? locality->alike : (double)NAN, DIGITS);
    json_begin(&json, "heads", '[');
    for (uint32_t head = 0; head < stats->heads; head++) {
        uint32_t kv_heads = trace_header(trace)->kv_heads;
        json_begin(&json, NULL, '{');
        json_put(&json, "layer", "%u", trace_model_layer(trace, head / kv_heads));
        json_put(&json, "head", "%u", head % kv_heads);
        for (int f = 0; f < TRACE_FIGURES; f++) {
            json_put_number(&json, trace_figures[f].name, stats->figures[f][head], DIGITS);
        }
        json_end(&json, '}');
    }
    json_end(&json, ']');
    json_end(&json, '}');
    putchar('\n');
}

static bool stats_command_print_table(const struct trace *trace,
                                      const struct stats_command_measured *measured,
                                      const struct layer_choice *choice, struct error *why)
{
    const struct trace_selection *selection = &measured->selection;
    const struct trace_stats *stats = &measured->stats;
    const struct trace_header *header = trace_header(trace);
    char chosen[LAYER_CHOICE_TEXT];
    layer_choice_write(choice, trace, chosen);
    static const struct frame_column columns[] = {
        {.title = "figure"},
        {.title = "mean", .unit = UNIT_COUNT, .decimals = 3},
        {.title = "what it is", .wrap = true},
    };
    struct frame *frame = frame_create(columns, 3, why);
    for (int f = 0; f < TRACE_FIGURES; f++) {
        frame_row(frame);
        frame_text(frame, 0, trace_figures[f].name);
        frame_number(frame, 1, stats->overall[f]);
        frame_text(frame, 2, trace_figures[f].summary);
    }
    printf("%s%s\ndemands of %g %% of %" PRIu32 " tokens, without %" PRIu32 " first and %" PRIu32
           " last: means over steps and heads\n\n",
           trace_path(trace), chosen, 100 * selection->share, header->context, selection->sinks,
           selection->recent);
    bool ok = frame_print(frame, NULL, stdout, why);
    frame_destroy(frame);
    const double *near = measured->locality.near;
    if (has_neighbours(trace)) {
        printf("\nnear: of the other units in a wanted unit's 1024th, 256th, 64th, 16th of the "
               "context, %.0f, %.0f, %.0f, %.0f %%\n      are wanted too\n",
               100 * near[0], 100 * near[1], 100 * near[2], 100 * near[3]);
    }
    if (has_others(trace)) {
        printf("%salike: another head of the layer wants %.0f %% of a head's units\n",
               has_neighbours(trace) ? "" : "\n", 100 * measured->locality.alike);
    }
    return ok;
}

static bool stats_command_run(const struct arguments *arguments, struct error *why)
{
    struct stats_command_measured measured;
    struct layer_choice choice;
    measured.stats = (struct trace_stats){0};
    struct trace *trace = trace_from_arguments(arguments, why);
    bool ok = trace != NULL && layer_choice_apply(arguments, trace, &choice, why) &&
              selection_from_arguments(arguments, &measured.selection.share, why);
    if (ok) {
        const struct trace_header *header = trace_header(trace);
        measured.selection.sinks = header->sinks;
        measured.selection.recent = header->recent;
        ok = trace_stats_measure(trace, &measured.selection, 0, &measured.stats, why) &&
             fit_locality_measure(trace, &measured.selection, header->steps, 0, &measured.locality,
                                  why);
    }
    if (ok && arguments_given(arguments, JSON)) {
        stats_command_print_json(trace, &measured);
    } else {
        ok = ok && stats_command_print_table(trace, &measured, &choice, why);
    }
    trace_stats_release(&measured.stats);
    trace_close(trace);
    return ok;
}

const struct command command_trace_stats = {
    .name = "trace stats",
    .operands = "TRACE",
    .summary =
        "measure how much demands and queries change, and how alike neighbours and heads are",
    .example = "spillway trace stats smollm2-135m",
    .options = options,
    .run = stats_command_run,
};
