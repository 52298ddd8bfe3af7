/* `spillway curve`: the hit ratios of policies at a range of cache sizes. */
#include "core/array.h"
#include "core/units.h"
#include "cli/curve/curve_report.h"
#include "cli/frame/command.h"
#include "cli/frame/question.h"
#include "cli/frame/message.h"
#include "cli/trace/trace_argument.h"
#include "decode/replay/replay.h"
#include "policy/policy.h"
#include "policy/qsac.h"

#include <stdlib.h>
#include <string.h>

enum { POLICY, SIZES, BY, SELECTION, ORDER, LAYERS, JSON, DATABASE };

static const char *const groups[] = {"layer", "head", NULL};

static const struct command_option options[] = {
    [POLICY] = {.name = "--policy",
                .argument = "POLICY,...",
                .list = true,
                .summary = "policies: NAME, plugin:PATH, or with parameters as in a scenario: "
                           "{name: qsac, eta: 0.9} (default: every policy that can run on the "
                           "trace)"},
    [SIZES] = {.name = "--sizes",
               .argument = "N,...",
               .list = true,
               .summary = "cache sizes per head: blocks, or shares of all blocks such as 30% "
                          "(default: some shares; every size for lru with --json)"},
    [BY] = {.name = "--by",
            .argument = "GROUP",
            .summary = "print a curve for each layer or KV head of a trace (default: one for all "
                       "heads)",
            .values = groups},
    [SELECTION] = {.name = "--selection",
                   .argument = "SHARE",
                   .summary = "share of a trace's context in each demand (default: 10%)"},
    [ORDER] = {.name = "--order",
               .argument = "ORDER",
               .summary = "handle the units of a step as one batch, or sequentially (default: "
                          "batch)",
               .values = policy_orders},
    [LAYERS] = {.name = "--layers",
                .argument = "N,...",
                .list = true,
                .summary = layer_choice_summary},
    [JSON] = {.name = "--json", .summary = "print one JSON object per size"},
    [DATABASE] = {.name = "--db",
                  .argument = "FILE",
                  .summary = "store the curves in this SQLite file, for 'plot curves' and 'plot "
                             "spread'"},
    {.name = NULL},
};

/* The source that the operand names: a trace, or a stream of ids. */
struct curve_source {
    struct trace *trace;
    struct layer_choice layers; /* of the trace */
    struct ids ids;
};

static bool open_ids(const struct arguments *arguments, const char *name,
                     struct curve_source *source, struct error *why)
{
    for (int option = BY; option <= LAYERS; option++) {
        if (arguments_given(arguments, option)) {
            return error_usage(why, NULL, 0,
                               "%s applies to traces; a stream of ids has neither steps nor heads",
                               options[option].name);
        }
    }
    return ids_read(name, &source->ids, why);
}

static bool source_open(const struct arguments *arguments, struct curve_source *source,
                        struct error *why)
{
    uint32_t count;
    const char *name = arguments_operands(arguments, &count)[0];
    const char *suffix = strrchr(name, '.');
    *source = (struct curve_source){.trace = NULL};
    if (suffix != NULL && strcmp(suffix, ".u32") == 0) {
        return open_ids(arguments, name, source, why);
    }
    source->trace = trace_from_arguments(arguments, why);
    return source->trace != NULL &&
           layer_choice_apply(source->trace, arguments_text(arguments, LAYERS), &source->layers,
                              why);
}

/* ---- what is asked for ---- */

static bool curve_command_read_selection(const struct arguments *arguments, double *selection,
                                         struct error *why)
{
    const char *text = arguments_text(arguments, SELECTION);
    if (text != NULL && !units_parse(text, UNIT_SHARE, NULL, 0, "--selection", selection, why)) {
        return false;
    }
    if (!(*selection > 0 && *selection <= 1)) {
        error_usage(why, NULL, 0, "'--selection' is '%s'", text);
        return error_expect(why, "more than 0 %% and at most 100 %%");
    }
    return true;
}

/* The first half of a trace's steps warms up the cache, as in a simulation. */
static bool describe_source(const struct arguments *arguments, const struct curve_source *source,
                            struct curve_report *report, struct error *why)
{
    uint32_t count;
    const char *order = arguments_text(arguments, ORDER), *group = arguments_text(arguments, BY);
    *report = (struct curve_report){
        .source = arguments_operands(arguments, &count)[0],
        .blocks = source->ids.blocks,
        .selection = 0.1,
        .order = POLICY_SEQUENTIAL,
    };
    if (source->trace == NULL) {
        report->hash = source->ids.hash;
        return true;
    }
    const struct trace_header *header = trace_header(source->trace);
    layer_choice_write(&source->layers, source->trace, report->chosen);
    report->trace = source->trace;
    report->blocks = header->units;
    report->warmup = header->steps / 2;
    report->order = order != NULL && strcmp(order, policy_orders[POLICY_SEQUENTIAL]) == 0
                        ? POLICY_SEQUENTIAL
                        : POLICY_BATCH;
    if (group != NULL) {
        report->group = strcmp(group, groups[0]) == 0 ? MISS_LAYER : MISS_HEAD;
    }
    return curve_command_read_selection(arguments, &report->selection, why) &&
           trace_hash(source->trace, &report->hash, why);
}

static bool read_policy(const char *text, struct policy_curves *curves, struct error *why)
{
    struct node *node = node_parse(text, strlen(text), "--policy", why);
    bool ok = node != NULL && policy_read(node, &curves->policy, curves->values, why);
    if (!ok) {
        why->line = 0; /* of an option */
    }
    node_destroy(node);
    return ok;
}

/* Can every head give the policy what it needs? A policy that caches nothing has no curve, and
 * neither has one that attends only to what it holds. */
static bool is_fed(const struct policy_kind *policy, const struct curve_report *report)
{
    bool queries = report->trace != NULL && trace_header(report->trace)->has_queries;
    bool positions = report->trace != NULL;
    return policy != &policy_none && !policy->chooses_own && (!policy->needs_queries || queries) &&
           (!policy->by_position || positions);
}

static bool read_policies(const struct arguments *arguments, struct curve_report *report,
                          struct error *why)
{
    uint32_t given;
    const char *const *texts = arguments_all(arguments, POLICY, &given);
    uint32_t most = given;
    while (given == 0 && policies[most] != NULL) {
        most++;
    }
    report->policies = array_zeroed(most, sizeof *report->policies, why);
    bool ok = report->policies != NULL;
    for (uint32_t i = 0; ok && i < most; i++) {
        if (given > 0 || is_fed(policies[i], report)) {
            const char *text = given > 0 ? texts[i] : policies[i]->name;
            ok = read_policy(text, &report->policies[report->count++], why);
        }
    }
    return ok;
}

/* A cache too small for a set cannot reuse it, so a policy that reuses sets has no curve at that
 * size. This is an error only if that policy alone was asked for. */
static bool choose_sizes(const struct arguments *arguments, const struct curve_source *source,
                         const struct curve_report *report, struct policy_curves *curves,
                         struct error *why)
{
    const char *list = arguments_text(arguments, SIZES);
    bool alone = list != NULL && report->count == 1;
    bool all = list == NULL && curves->policy == &policy_lru && arguments_given(arguments, JSON);
    if (all ? !curve_sizes_all(report->blocks, &curves->sizes, why)
            : !curve_sizes_read(list, report->blocks, &curves->sizes, why)) {
        return false;
    }
    uint32_t wanted;
    if (curves->policy->needs_queries && source->trace != NULL && !alone) {
        if (!replay_wanted(source->trace, report->selection, &wanted, why)) {
            return false;
        }
        curve_sizes_keep(&curves->sizes, wanted);
    }
    return true;
}

/* ---- the command ---- */

/* What a trial of eta measures: the smallest cache that QSAC can have. */
struct curve_trial {
    const struct trace *trace;
    struct miss_request request;
};

/* A set is reused as a whole or missed as a whole. */
static bool try_eta(void *context, const double *values, double *reused, struct error *why)
{
    struct curve_trial *trial = context;
    struct miss_curve curve;
    trial->request.values = values;
    miss_curve_init(&curve);
    bool ok = miss_curve_of_trace(trial->trace, &trial->request, 0, &curve, why);
    *reused = ok ? 1 - (double)curve.misses[0] / (double)curve.accesses[0] : 0;
    miss_curve_release(&curve);
    return ok;
}

/* Choose QSAC's eta by the share of sets to reuse, if that was asked for. */
static bool choose_eta(const struct curve_source *source, const struct curve_report *report,
                       struct policy_curves *curves, struct error *why)
{
    uint32_t wanted;
    if (curves->policy != &policy_qsac || source->trace == NULL ||
        qsac_reuse(curves->values) == 0) {
        return true;
    }
    struct curve_trial trial = {.trace = source->trace,
                                .request = {.policy = curves->policy,
                                            .order = report->order,
                                            .selection = report->selection,
                                            .starts_full = true,
                                            .warmup = report->warmup,
                                            .sizes = &wanted,
                                            .count = 1}};
    return replay_wanted(source->trace, report->selection, &wanted, why) &&
           qsac_choose_eta(curves->values, try_eta, &trial, why);
}

static bool curve_command_measure(const struct curve_source *source,
                                  const struct curve_report *report, struct policy_curves *curves,
                                  struct error *why)
{
    struct miss_request request = {
        .policy = curves->policy,
        .values = curves->values,
        .group = report->group,
        .order = report->order,
        .selection = report->selection,
        .starts_full = true,
        .warmup = report->warmup,
        .sizes = curves->sizes.size,
        .count = (uint32_t)curves->sizes.count,
    };
    return (source->trace != NULL
                ? miss_curve_of_trace(source->trace, &request, 0, &curves->curve, why)
                : miss_curve_of_ids(&source->ids, &request, 0, &curves->curve, why)) &&
           miss_curve_sum(&curves->curve, &curves->whole, why);
}

static bool fill_report(const struct arguments *arguments, const struct curve_source *source,
                        struct curve_report *report, struct error *why)
{
    bool ok =
        describe_source(arguments, source, report, why) && read_policies(arguments, report, why);
    for (uint32_t i = 0; ok && i < report->count; i++) {
        struct policy_curves *curves = &report->policies[i];
        char left[PROGRESS_LEFT];
        progress_show(i, report->count, "%s, %u of %u policies%s", curves->policy->name, i + 1,
                      report->count, progress_left((double)i / report->count, left));
        ok = choose_sizes(arguments, source, report, curves, why) &&
             choose_eta(source, report, curves, why) &&
             curve_command_measure(source, report, curves, why);
    }
    progress_clear();
    return ok;
}

/* The database is opened first, so that a bad path fails before the computation. */
static bool run_report(const struct arguments *arguments, const struct curve_source *source,
                       struct curve_report *report, struct error *why)
{
    struct store *store;
    bool ok =
        database_open(arguments, &store, why) && fill_report(arguments, source, report, why) &&
        (store == NULL || curve_report_store(report, store, why)) &&
        (arguments_given(arguments, JSON) ? curve_report_json : curve_report_tables)(report, why);
    store_close(store);
    return ok;
}

static bool curve_command_run(const struct arguments *arguments, struct error *why)
{
    struct curve_source source;
    struct curve_report report = {.count = 0};
    bool ok = source_open(arguments, &source, why) && run_report(arguments, &source, &report, why);
    for (uint32_t i = 0; i < report.count; i++) {
        miss_curve_release(&report.policies[i].curve);
        miss_curve_release(&report.policies[i].whole);
        curve_sizes_release(&report.policies[i].sizes);
    }
    free(report.policies);
    trace_close(source.trace);
    ids_release(&source.ids);
    return ok;
}

const struct command command_curve = {
    .name = "curve",
    .operands = "TRACE|IDS.u32",
    .least_operands = 1,
    .most_operands = 1,
    .summary = "print the hit ratios of cache policies at a range of cache sizes",
    .example = "spillway curve smollm2-135m --policy arc --sizes 10%,30%\n"
               "spillway curve smollm2-135m --policy lru --policy '{name: qsac, eta: 0.9}'",
    .options = options,
    .run = curve_command_run,
};
