/* Commands that show, check or make one decode trace: info, verify, generate. */

#include <inttypes.h>
#include <stdlib.h>

#include "cli/trace/trace_argument.h"
#include "core/text.h"
#include "model/model.h"
#include "tables/frame.h"
#include "trace/generate/generate.h"

enum { JSON };
static const struct command_option options[] = {
    [JSON] = {"--json", NULL, "print a JSON object"},
    {.name = NULL},
};

/* The header's numbers, with the names of the format. */
#define FIELDS(FIELD)                                                                              \
    FIELD(layers, "of the model")                                                                  \
    FIELD(kv_heads, "KV heads of a layer")                                                         \
    FIELD(query_heads, "query heads of a layer")                                                   \
    FIELD(head_dim, "numbers in a query")                                                          \
    FIELD(context, "tokens of the prefix")                                                         \
    FIELD(unit_tokens, "tokens of a unit")                                                         \
    FIELD(units, "units of the prefix")                                                            \
    FIELD(sinks, "first tokens, in every row")                                                     \
    FIELD(recent, "last tokens, in every row")                                                     \
    FIELD(keep, "units of a row besides, at most")                                                 \
    FIELD(sequences, "recorded")                                                                   \
    FIELD(steps, "of each sequence")                                                               \
    FIELD(steps_per_tile, "of the file")

#define NAMED(field) .key = #field, .title = #field
static const struct frame_column columns[] = {
    {NAMED(source), .unit = UNIT_JSON},
    {NAMED(hash)},
    {NAMED(unit_kind)},
    {NAMED(queries), .unit = UNIT_FLAG, .what = "of each query head"},
    {NAMED(approximate), .unit = UNIT_FLAG, .what = "rows as a speculative query would keep them"},
#define OF_TRACE(field, means) {NAMED(field), .unit = UNIT_WHOLE, .what = (means)},
    FIELDS(OF_TRACE)
#undef OF_TRACE
};

static bool trace_info_run(const struct arguments *arguments, struct error *why)
{
    uint64_t hash;
    struct trace *trace = trace_from_arguments(arguments, why);
    bool json = arguments_given(arguments, JSON),
         ok = trace != NULL && trace_hash(trace, &hash, why);
    struct frame *frame = NULL;
    if (ok) {
        const struct trace_header *header = trace_header(trace);
        json_t *source = json_loads(header->source, 0, NULL); /* written anew, on one line */
        char *line = json_dumps(source, JSON_COMPACT | JSON_REAL_PRECISION(12));
        uint32_t at = 0;
        frame = frame_create(columns, sizeof columns / sizeof *columns, why);
        frame_row(frame);
        frame_text(frame, at++, line);
        frame_textf(frame, at++, "%016" PRIx64, hash);
        frame_text(frame, at++, header->unit_kind == TRACE_CLUSTERS ? "clusters" : "positions");
        frame_number(frame, at++, header->has_queries);
        frame_number(frame, at++, header->has_approximate);
#define NUMBER(field, means) frame_number(frame, at++, header->field);
        FIELDS(NUMBER)
#undef NUMBER
        free(line);
        json_decref(source);
    }
    ok = ok && (json ? frame_print_json : frame_print_fields)(frame, stdout, why);
    frame_destroy(frame);
    trace_close(trace);
    return ok;
}

const struct command command_trace_info = {
    .name = "trace info",
    .operands = "TRACE",
    .summary = "print the header of a decode trace",
    .example = "spillway trace info smollm2-135m",
    .options = options,
    .run = trace_info_run,
};

static bool trace_verify_run(const struct arguments *arguments, struct error *why)
{
    struct trace_summary summary;
    char bytes[32];
    struct trace *trace = trace_from_arguments(arguments, why);
    bool ok = trace != NULL && trace_verify(trace, 0, &summary, why);
    if (ok) {
        printf("%s is whole: %s, %" PRIu64 " frame%s, %" PRIu64 " row%s, %" PRIu64 " unit%s\n",
               trace_path(trace),
               units_format((double)summary.bytes, UNIT_BYTES, bytes, sizeof bytes), summary.frames,
               text_plural(summary.frames), summary.rows, text_plural(summary.rows), summary.units,
               text_plural(summary.units));
    }
    trace_close(trace);
    return ok;
}

const struct command command_trace_verify = {
    .name = "trace verify",
    .operands = "TRACE",
    .summary = "read a whole decode trace and check every byte",
    .example = "spillway trace verify smollm2-135m",
    .options = &options[1], /* none */
    .run = trace_verify_run,
};

enum { GENERATE_OUTPUT, MODEL, CONTEXT, STEPS, KEEP, SEED, JOBS };

static const struct command_option generate_options[] = {
    [GENERATE_OUTPUT] = {"--output", "FILE", "the trace to write (.swt)", .letter = 'o',
                         .required = true},
    [MODEL] = {"--model", "MODEL",
               "the model whose layers and heads are generated (default: the fitted ones)"},
    [CONTEXT] = {"--context", "TOKENS", "tokens in the prefix (default: as fitted)"},
    [STEPS] = {"--steps", "NUMBER", "decode steps to generate (default: 64)"},
    [KEEP] = {"--keep", "SHARE",
              "share of the context in each row, besides the window (default: 20%)"},
    [SEED] = {"--seed", "NUMBER", "random seed (default: 1)"},
    [JOBS] = {"--jobs", "NUMBER",
              "threads to use (default: one per processor); does not change the result",
              .letter = 'j'},
    {.name = NULL},
};

static bool generate(const struct arguments *arguments, const struct trace_profile *profile,
                     const char *name, struct error *why)
{
    uint32_t seed = 1, jobs = 0;
    struct model model = {0};
    const char *keep = arguments_text(arguments, KEEP);
    struct trace_geometry geometry = {
        .layers = profile->layers,
        .kv_heads = profile->kv_heads,
        .query_heads = profile->query_heads,
        .head_dim = profile->head_dim,
        .context = profile->context,
        .keep = 0.2,
        .sequences = 1,
        .steps = 64,
    };
    const struct model_options plain = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    const char *named = arguments_text(arguments, MODEL);
    bool ok = named == NULL || model_load(NULL, named, &plain, NULL, 0, &model, why);
    if (ok && named != NULL) {
        geometry.model = model.name;
        geometry.layers = model.layer_count;
        geometry.kv_heads = model.kv_heads;
        geometry.query_heads = model.query_heads;
        geometry.head_dim = model.head_dim;
    }
    ok = ok &&
         arguments_whole(arguments, CONTEXT, UNIT_TOKENS, 0, UINT32_MAX, &geometry.context, why) &&
         arguments_whole(arguments, STEPS, UNIT_COUNT, 0, UINT32_MAX, &geometry.steps, why) &&
         arguments_whole(arguments, SEED, UNIT_COUNT, 0, UINT32_MAX, &seed, why) &&
         arguments_whole(arguments, JOBS, UNIT_COUNT, 0, UINT32_MAX, &jobs, why) &&
         (keep == NULL || units_parse(keep, UNIT_SHARE, NULL, 0, "--keep", &geometry.keep, why));
    geometry.seed = seed;
    struct trace *trace = ok ? trace_open_generated(profile, name, &geometry, why) : NULL;
    ok = trace != NULL && trace_copy(trace, arguments_text(arguments, GENERATE_OUTPUT), jobs, why);
    trace_close(trace);
    model_release(&model);
    return ok;
}

static bool trace_generate_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    char path[4096];
    const char *name = arguments_operands(arguments, &count)[0];
    struct trace_profile profile = {0};
    bool ok = named_file(&named_trace_profile, name, NULL, 0, path, sizeof path, why) &&
              trace_profile_load(NULL, path, &profile, why) &&
              generate(arguments, &profile, name, why);
    trace_profile_release(&profile);
    return ok;
}

const struct command command_trace_generate = {
    .name = "trace generate",
    .operands = "PROFILE",
    .summary = "generate a trace of any model, context and length from a trace profile",
    .example = "spillway trace generate smollm2-135m --context 8192 --steps 16 -o long.swt",
    .options = generate_options,
    .run = trace_generate_run,
};
