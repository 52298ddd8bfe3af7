/* `spillway trace generate`: generates a trace of any geometry from a profile. */
#include "core/named.h"
#include "core/units.h"
#include "cli/frame/arguments.h"
#include "cli/frame/command.h"
#include "model/model.h"
#include "trace/generate/generate.h"

#include <string.h>

enum { OUTPUT, MODEL, CONTEXT, STEPS, KEEP, SEED, JOBS };

static const struct command_option options[] = {
    [OUTPUT] = {.name = "--output",
                .letter = 'o',
                .argument = "FILE",
                .required = true,
                .summary = "the trace to write (.swt)"},
    [MODEL] = {.name = "--model",
               .argument = "MODEL",
               .summary = "the model whose layers and heads are generated (default: the fitted "
                          "ones)"},
    [CONTEXT] = {.name = "--context",
                 .argument = "TOKENS",
                 .summary = "tokens in the prefix (default: as fitted)"},
    [STEPS] = {.name = "--steps",
               .argument = "NUMBER",
               .summary = "decode steps to generate "
                          "(default: 64)"},
    [KEEP] = {.name = "--keep",
              .argument = "SHARE",
              .summary = "share of the context in each row, besides the window (default: 20%)"},
    [SEED] = {.name = "--seed", .argument = "NUMBER", .summary = "random seed (default: 1)"},
    [JOBS] = {.name = "--jobs",
              .letter = 'j',
              .argument = "NUMBER",
              .summary = "threads to use (default: one per processor); does not change the result"},
    {.name = NULL},
};

static bool trace_generate_read_count(const struct arguments *arguments, int option, uint32_t *out,
                                      struct error *why)
{
    uint64_t value = *out;
    const char *text = arguments_text(arguments, option);
    enum unit unit = option == CONTEXT ? UNIT_TOKENS : UNIT_COUNT;
    if (text != NULL &&
        !units_parse_whole(text, unit, UINT32_MAX, NULL, 0, options[option].name, &value, why)) {
        return false;
    }
    *out = (uint32_t)value;
    return true;
}

static bool trace_generate_read_model(const struct arguments *arguments,
                                      struct trace_geometry *geometry, struct model *model,
                                      struct error *why)
{
    const struct model_options plain = {.weights = -1, .kv = -1, .tensor_parallel = 1};
    const char *name = arguments_text(arguments, MODEL);
    if (name == NULL) {
        return true;
    }
    if (!model_load(NULL, name, &plain, NULL, 0, model, why)) {
        return false;
    }
    geometry->model = model->name;
    geometry->layers = model->layer_count;
    geometry->kv_heads = model->kv_heads;
    geometry->query_heads = model->query_heads;
    geometry->head_dim = model->head_dim;
    return true;
}

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
    bool ok =
        trace_generate_read_model(arguments, &geometry, &model, why) &&
        trace_generate_read_count(arguments, CONTEXT, &geometry.context, why) &&
        trace_generate_read_count(arguments, STEPS, &geometry.steps, why) &&
        trace_generate_read_count(arguments, SEED, &seed, why) &&
        trace_generate_read_count(arguments, JOBS, &jobs, why) &&
        (keep == NULL || units_parse(keep, UNIT_SHARE, NULL, 0, "--keep", &geometry.keep, why));
    geometry.seed = seed;
    struct trace *trace = ok ? trace_open_generated(profile, name, &geometry, why) : NULL;
    ok = trace != NULL && trace_copy(trace, arguments_text(arguments, OUTPUT), jobs, why);
    trace_close(trace);
    model_release(&model);
    return ok;
}

static bool trace_generate_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    char path[4096];
    const char *name = arguments_operands(arguments, &count)[0];
    struct trace_profile profile;
    if (!named_file(&named_trace_profile, name, NULL, 0, path, sizeof path, why) ||
        !trace_profile_load(NULL, path, &profile, why)) {
        return false;
    }
    bool ok = generate(arguments, &profile, name, why);
    trace_profile_release(&profile);
    return ok;
}

const struct command command_trace_generate = {
    .name = "trace generate",
    .operands = "PROFILE",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "generate a trace of any model, context and length from a trace profile",
    .example = "spillway trace generate smollm2-135m --context 8192 --steps 16 -o long.swt",
    .options = options,
    .run = trace_generate_run,
};
