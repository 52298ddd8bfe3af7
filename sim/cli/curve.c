/* `spillway curve`: what a policy hits at one cache size after the other. */
#include "base/array.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/table.h"
#include "cli/trace_argument.h"
#include "decode/replay.h"
#include "study/miss_curve.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POLICY, SIZES, SELECTION, ORDER, JSON };

static const char *const orders[] = {
    [POLICY_BATCH] = "batch", [POLICY_SEQUENTIAL] = "sequential", NULL};

static const struct command_option options[] = {
    [POLICY] = {.name = "--policy",
                .argument = "NAME",
                .summary = "cache policy, with its default parameters; plugin:PATH is one of yours",
                .required = true},
    [SIZES] = {.name = "--sizes",
               .argument = "N,N",
               .summary = "blocks of a head's cache, or shares of all blocks, as 30% (default: "
                          "some shares; with lru and --json every size)"},
    [SELECTION] = {.name = "--selection",
                   .argument = "SHARE",
                   .summary = "of a trace's context that a demand has (default: 10%)"},
    [ORDER] = {.name = "--order",
               .argument = "ORDER",
               .summary = "how a step of a trace is handled (default: batch)",
               .values = orders},
    [JSON] = {.name = "--json", .summary = "print a JSON object a size"},
    {.name = NULL},
};

/* What the operand names: a trace, or a stream of ids. */
struct source {
    struct trace *trace;
    struct ids ids;
    uint32_t blocks;
};

struct sizes {
    uint32_t *size;
    size_t count, capacity;
};

static bool source_open(const struct arguments *arguments, struct source *source, struct error *why)
{
    uint32_t count;
    const char *name = arguments_operands(arguments, &count)[0];
    const char *suffix = strrchr(name, '.');
    *source = (struct source){.trace = NULL};
    if (suffix == NULL || strcmp(suffix, ".u32") != 0) {
        source->trace = trace_from_arguments(arguments, why);
        source->blocks = source->trace != NULL ? trace_header(source->trace)->units : 0;
        return source->trace != NULL;
    }
    for (int option = SELECTION; option <= ORDER; option++) {
        if (arguments_given(arguments, option)) {
            return error_usage(why, NULL, 0, "%s is for traces: ids come one after the other",
                               options[option].name);
        }
    }
    if (!ids_read(name, &source->ids, why)) {
        return false;
    }
    source->blocks = source->ids.blocks;
    return true;
}

static void source_close(struct source *source)
{
    trace_close(source->trace);
    ids_release(&source->ids);
}

/* ---- sizes ---- */

static bool sizes_add(struct sizes *sizes, double size, struct error *why)
{
    if (!array_reserve(&sizes->size, &sizes->capacity, sizes->count + 1, sizeof *sizes->size,
                       why)) {
        return false;
    }
    sizes->size[sizes->count++] = (uint32_t)size;
    return true;
}

static bool add_share(struct sizes *sizes, double share, uint32_t blocks, struct error *why)
{
    return sizes_add(sizes, share > 0 ? fmax(1, floor(share * blocks + 0.5)) : 0, why);
}

static bool add_text(struct sizes *sizes, const char *text, uint32_t blocks, struct error *why)
{
    struct quantity quantity;
    bool known = quantity_parse(text, &quantity) && quantity.value >= 0;
    if (known && quantity.unit == UNIT_SHARE && quantity.value <= 1) {
        return add_share(sizes, quantity.value, blocks, why);
    }
    if (known && quantity.unit == UNIT_COUNT && quantity.value <= UINT32_MAX &&
        quantity.value == floor(quantity.value)) {
        return sizes_add(sizes, quantity.value, why);
    }
    error_usage(why, NULL, 0, "--sizes: '%s' is no size", text);
    return error_expect(why, "blocks, as 512, or a share, as 30%%, with commas between");
}

static bool add_list(struct sizes *sizes, const char *list, uint32_t blocks, struct error *why)
{
    char *copy = strdup(list), *rest = copy, *text;
    bool ok = copy != NULL || error_set(why, NULL, 0, "out of memory");
    while (ok && (text = strsep(&rest, ",")) != NULL) {
        ok = add_text(sizes, text, blocks, why);
    }
    free(copy);
    return ok;
}

static bool choose_sizes(const struct arguments *arguments, const struct policy_kind *policy,
                         uint32_t blocks, struct sizes *sizes, struct error *why)
{
    static const double shares[] = {.01, .02, .05, .1, .15, .2, .3, .4, .5, .7, 1};
    const char *list = arguments_text(arguments, SIZES);
    bool ok = true;
    if (list != NULL) {
        return add_list(sizes, list, blocks, why);
    }
    if (arguments_given(arguments, JSON) && strcmp(policy->name, "lru") == 0) {
        for (uint32_t size = 1; ok && size <= blocks; size++) {
            ok = sizes_add(sizes, size, why);
        }
        return ok;
    }
    for (size_t i = 0; ok && i < sizeof shares / sizeof *shares; i++) {
        ok = add_share(sizes, shares[i], blocks, why);
    }
    return ok;
}

/* ---- output ---- */

static bool print_json(const struct miss_request *request, const struct miss_curve *curve,
                       struct error *why)
{
    json_t *text = json_string(request->policy->name);
    char *name = text != NULL ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
    for (uint32_t i = 0; name != NULL && i < request->count; i++) {
        printf("{\"policy\":%s,\"size\":%" PRIu32 ",\"accesses\":%" PRIu64 ",\"misses\":%" PRIu64
               "}\n",
               name, request->sizes[i], curve->accesses, curve->misses[i]);
    }
    bool ok = name != NULL ||
              error_set(why, NULL, 0, "'%s' cannot be written as JSON", request->policy->name);
    free(name);
    json_decref(text);
    return ok;
}

static const struct table_column columns[] = {{.title = "blocks", .right = true},
                                              {.title = "of all", .right = true},
                                              {.title = "hit ratio", .right = true},
                                              {.title = "misses", .right = true}};

static bool add_size(struct table *table, const struct miss_curve *curve, uint32_t size,
                     uint64_t misses, uint32_t blocks, struct error *why)
{
    char blocks_text[32], share[32], hits[32] = "-", missed[32];
    snprintf(blocks_text, sizeof blocks_text, "%" PRIu32, size);
    snprintf(share, sizeof share, "%.1f %%", 100.0 * size / blocks);
    if (curve->accesses > 0) {
        snprintf(hits, sizeof hits, "%.2f %%",
                 100 * (1 - (double)misses / (double)curve->accesses));
    }
    snprintf(missed, sizeof missed, "%" PRIu64, misses);
    const char *texts[] = {blocks_text, share, hits, missed};
    return table_add(table, texts, 4, why);
}

static void print_title(const struct source *source, const struct miss_request *request,
                        const struct miss_curve *curve)
{
    if (source->trace == NULL) {
        printf("%s: %" PRIu64 " accesses to %" PRIu32 " blocks\n\n", request->policy->name,
               curve->accesses, source->blocks);
        return;
    }
    printf("%s, a cache a head, on %s\ndemands of %g %% of %" PRIu32 " blocks, %s; %" PRIu64
           " accesses after %" PRIu32 " steps of warm-up\n\n",
           request->policy->name, trace_path(source->trace), 100 * request->selection,
           source->blocks, request->order == POLICY_BATCH ? "a step at a time" : "one by one",
           curve->accesses, request->warmup);
}

static bool print_table(const struct source *source, const struct miss_request *request,
                        const struct miss_curve *curve, struct error *why)
{
    struct table *table = table_create(columns, 4, why);
    bool ok = table != NULL;
    for (uint32_t i = 0; ok && i < request->count; i++) {
        ok = add_size(table, curve, request->sizes[i], curve->misses[i], source->blocks, why);
    }
    if (ok) {
        print_title(source, request, curve);
        table_print(table, stdout);
    }
    table_destroy(table);
    return ok;
}

/* ---- the command ---- */

static bool measure(const struct source *source, const struct miss_request *request,
                    struct miss_curve *curve, struct error *why)
{
    return source->trace != NULL ? miss_curve_of_trace(source->trace, request, 0, curve, why)
                                 : miss_curve_of_ids(&source->ids, request, 0, curve, why);
}

static bool read_selection(const struct arguments *arguments, double *selection, struct error *why)
{
    const char *text = arguments_text(arguments, SELECTION);
    if (text != NULL && !units_parse(text, UNIT_SHARE, NULL, 0, "--selection", selection, why)) {
        return false;
    }
    if (!(*selection > 0 && *selection <= 1)) {
        error_usage(why, NULL, 0, "--selection: %s of the context", text);
        return error_expect(why, "more than 0 %% and at most 100 %%");
    }
    return true;
}

/* Half of a trace's steps warm up, as in a simulation. */
static bool run_source(const struct arguments *arguments, const struct source *source,
                       struct sizes *sizes, struct miss_curve *curve, struct error *why)
{
    const char *order = arguments_text(arguments, ORDER);
    struct miss_request request = {
        .policy = policy_find(arguments_text(arguments, POLICY), NULL, 0, why),
        .order = order != NULL && strcmp(order, orders[POLICY_SEQUENTIAL]) == 0 ? POLICY_SEQUENTIAL
                                                                                : POLICY_BATCH,
        .selection = 0.1,
        .warmup = source->trace != NULL ? trace_header(source->trace)->steps / 2 : 0,
    };
    if (request.policy == NULL || !read_selection(arguments, &request.selection, why) ||
        !choose_sizes(arguments, request.policy, source->blocks, sizes, why)) {
        return false;
    }
    request.sizes = sizes->size;
    request.count = (uint32_t)sizes->count;
    if (!measure(source, &request, curve, why)) {
        return false;
    }
    if (arguments_given(arguments, JSON)) {
        return print_json(&request, curve, why);
    }
    return print_table(source, &request, curve, why);
}

static bool run(const struct arguments *arguments, struct error *why)
{
    struct source source;
    struct sizes sizes = {.size = NULL};
    struct miss_curve curve;
    miss_curve_init(&curve);
    bool ok =
        source_open(arguments, &source, why) && run_source(arguments, &source, &sizes, &curve, why);
    miss_curve_release(&curve);
    free(sizes.size);
    source_close(&source);
    return ok;
}

const struct command command_curve = {
    .name = "curve",
    .operands = "TRACE|IDS.u32",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "print what a cache policy hits at one cache size after the other",
    .example = "spillway curve smollm2-135m --policy arc --sizes 10%,30%",
    .options = options,
    .run = run,
};
