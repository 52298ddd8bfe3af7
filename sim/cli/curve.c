/* `spillway curve`: hit ratios of policies at a range of cache sizes; a row a curve and a column a size. */
#include "cli/frame/message.h"
#include "cli/frame/question.h"
#include "cli/trace/trace_argument.h"
#include "core/text.h"
#include "store/stored_run.h"
#include "study/sweep/miss_curve.h"
#include "study/whatif/whatif_study.h"

#include <gsl/gsl_sort_uint.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { POLICY, SIZES, BY, SELECTION, ORDER, LAYERS, JSON, DATABASE };

static const char *const groups[] = {"layer", "head", NULL};

static const struct command_option options[] = {
    [POLICY] = {"--policy", "POLICY,...",
                "policies: NAME, plugin:PATH, or with parameters as in a scenario: {name: qsac, "
                "eta: 0.9} (default: every policy that can run on the trace)",
                .list = true},
    [SIZES] = {"--sizes", "N,...",
               "cache sizes per head: blocks, or shares of all blocks such as 30% "
               "(default: some shares)",
               .list = true},
    [BY] = {"--by", "GROUP",
            "print a curve for each layer or KV head of a trace (default: one for all heads)",
            .values = groups},
    [SELECTION] = {"--selection", "SHARE",
                   "share of a trace's context in each demand (default: 10%)"},
    [ORDER] = {"--order", "ORDER",
               "handle the units of a step as one batch, or sequentially (default: batch)",
               .values = policy_orders},
    [LAYERS] = {"--layers", "N,...", layer_choice_summary, .list = true},
    [JSON] = {"--json", NULL, "print one JSON object per size"},
    [DATABASE] = {"--db", "FILE",
                  "store the curves in this SQLite file, for 'plot curves' and 'plot spread'"},
    {.name = NULL},
};

enum { PARAMETERS = 512 }; /* the longest name and value, for POLICY_MOST_PARAMS */

struct curve_sizes {
    uint32_t *size; /* owned */
    size_t count, capacity;
    bool in_blocks; /* the list has blocks only, and not shares */
};

struct policy_curves {
    const struct policy_kind *policy;
    double values[POLICY_MOST_PARAMS];
    struct curve_sizes sizes;
    struct miss_curve curve;
};

struct curve_report {
    const char *source;  /* as the user named it */
    struct trace *trace; /* NULL: the source is a stream of ids; owned */
    struct ids ids;
    struct layer_choice layers; /* of the trace */
    uint64_t hash;              /* of the source */
    uint32_t blocks, warmup;
    double selection;
    enum policy_order order;
    enum miss_group group;
    struct policy_curves *policies; /* [count] owned */
    uint32_t count;
};

/* ---- the source ---- */

static bool open_ids(const struct arguments *arguments, struct curve_report *report,
                     struct error *why)
{
    for (int option = BY; option <= LAYERS; option++) {
        if (arguments_given(arguments, option)) {
            return error_usage(why, NULL, 0,
                               "%s applies to traces; a stream of ids has neither steps nor heads",
                               options[option].name);
        }
    }
    if (!ids_read(report->source, &report->ids, why)) {
        return false;
    }
    report->order = POLICY_SEQUENTIAL;
    report->blocks = report->ids.blocks;
    report->hash = report->ids.hash;
    return true;
}

/* The first half of a trace's steps warms up the cache, as in a simulation. */
static bool open_trace(const struct arguments *arguments, struct curve_report *report,
                       struct error *why)
{
    const char *order = arguments_text(arguments, ORDER), *group = arguments_text(arguments, BY);
    report->trace = trace_from_arguments(arguments, why);
    if (report->trace == NULL ||
        !layer_choice_apply(arguments, report->trace, &report->layers, why)) {
        return false;
    }
    report->blocks = trace_header(report->trace)->units;
    report->warmup = trace_header(report->trace)->steps / 2;
    report->order = order != NULL && strcmp(order, policy_orders[POLICY_SEQUENTIAL]) == 0
                        ? POLICY_SEQUENTIAL
                        : POLICY_BATCH;
    if (group != NULL) {
        report->group = strcmp(group, groups[0]) == 0 ? MISS_LAYER : MISS_HEAD;
    }
    return selection_from_arguments(arguments, &report->selection, why) &&
           trace_hash(report->trace, &report->hash, why);
}

/* ---- policies ---- */

/* Can every head give the policy what it needs? What caches nothing, or attends only to it, has no curve. */
static bool is_fed(const struct policy_kind *policy, const struct curve_report *report)
{
    bool positions = report->trace != NULL;
    bool queries = positions && trace_header(report->trace)->has_queries;
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
            struct policy_curves *curves = &report->policies[report->count++];
            struct node *node = node_parse(text, strlen(text), "--policy", why);
            ok = node != NULL && policy_read(node, &curves->policy, curves->values, why);
            node_destroy(node);
        }
    }
    if (!ok) {
        why->line = 0; /* of an option */
    }
    return ok;
}

/* Closer together at small sizes, where curves bend. */
static const char *const usual_sizes[] = {"1%",  "2%",  "5%",  "10%", "15%", "20%",
                                          "30%", "40%", "50%", "70%", "100%"};

/* Blocks, as 512, or a share of all, as 30% or 0.3; a share above 0 is at least one block. */
static bool sizes_add(struct curve_sizes *sizes, const char *text, uint32_t blocks,
                      struct error *why)
{
    struct quantity of;
    bool known = quantity_parse(text, &of) && of.value >= 0;
    bool share =
        known && (of.unit == UNIT_SHARE || (of.unit == UNIT_COUNT && of.value > 0 && of.value < 1));
    bool whole =
        known && of.unit == UNIT_COUNT && of.value <= blocks && of.value == floor(of.value);
    if (share ? of.value > 1 : !whole) {
        error_usage(why, NULL, 0, "--sizes: '%s' is not a size", text);
        return error_expect(
            why, "numbers of blocks, as 512, of all %u, or shares, as 30%%, separated by commas",
            blocks);
    }
    if (!array_reserve(&sizes->size, &sizes->capacity, sizes->count + 1, sizeof *sizes->size,
                       why)) {
        return false;
    }
    double size = !share || of.value == 0 ? of.value : fmax(1, floor(of.value * blocks + 0.5));
    sizes->size[sizes->count++] = (uint32_t)size;
    sizes->in_blocks = sizes->in_blocks && !share;
    return true;
}

/* A policy that reuses sets has no curve at a cache too small for one; an error if it alone was asked for. */
static bool choose_sizes(const struct arguments *arguments, const struct curve_report *report,
                         struct policy_curves *curves, struct error *why)
{
    uint32_t count, wanted = 0;
    const char *const *given = arguments_all(arguments, SIZES, &count);
    const char *const *texts = count > 0 ? given : usual_sizes;
    struct curve_sizes *sizes = &curves->sizes;
    bool alone = count > 0 && report->count == 1, ok = true;
    sizes->in_blocks = true;
    count = count > 0 ? count : sizeof usual_sizes / sizeof *usual_sizes;
    for (uint32_t i = 0; ok && i < count; i++) {
        ok = sizes_add(sizes, texts[i], report->blocks, why);
    }
    if (ok && curves->policy->needs_queries && report->trace != NULL && !alone) {
        ok = replay_wanted(report->trace, report->selection, &wanted, why);
    }
    size_t kept = 0;
    gsl_sort_uint(sizes->size, 1, sizes->count);
    for (size_t i = 0; i < sizes->count; i++) {
        if (sizes->size[i] >= wanted && (kept == 0 || sizes->size[i] != sizes->size[kept - 1])) {
            sizes->size[kept++] = sizes->size[i];
        }
    }
    sizes->count = kept;
    return ok;
}

static bool fill_report(const struct arguments *arguments, struct curve_report *report,
                        struct error *why)
{
    bool ok = read_policies(arguments, report, why);
    for (uint32_t i = 0; ok && i < report->count; i++) {
        struct policy_curves *curves = &report->policies[i];
        char left[PROGRESS_LEFT];
        progress_show(i, report->count, "%s, %u of %u policies%s", curves->policy->name, i + 1,
                      report->count, progress_left((double)i / report->count, left));
        ok = choose_sizes(arguments, report, curves, why);
        const struct miss_request request = {.policy = curves->policy,
                                             .values = curves->values,
                                             .group = report->group,
                                             .order = report->order,
                                             .selection = report->selection,
                                             .starts_full = true,
                                             .warmup = report->warmup,
                                             .sizes = curves->sizes.size,
                                             .count = (uint32_t)curves->sizes.count};
        ok = ok && (report->trace != NULL
                        ? miss_curve_of_trace(report->trace, &request, 0, &curves->curve, why)
                        : miss_curve_of_ids(&report->ids, &request, 0, &curves->curve, why));
    }
    progress_clear();
    return ok;
}

/* ---- what is said of a curve ---- */

struct one_curve {
    const struct policy_curves *of;
    uint32_t count;         /* of sizes */
    const uint64_t *misses; /* by size */
    uint64_t accesses;
    double layer, head; /* as the model numbers them; NaN: all */
    uint32_t knee;      /* the size there; 0: it has none, as a flat one */
};

static struct one_curve curve_at(const struct curve_report *report, const struct policy_curves *of,
                                 uint32_t group)
{
    uint32_t heads = report->group == MISS_HEAD ? trace_header(report->trace)->kv_heads : 1, at;
    struct one_curve one = {.of = of,
                            .count = of->curve.count,
                            .misses = miss_curve_group(&of->curve, group),
                            .accesses = of->curve.accesses[group],
                            .layer = NAN,
                            .head = NAN};
    if (group > 0) {
        one.layer = trace_model_layer(report->trace, (group - 1) / heads);
        one.head = report->group == MISS_HEAD ? (group - 1) % heads : (double)NAN;
    }
    bool flat = one.count == 0 || one.misses[one.count - 1] == one.misses[0];
    if (!flat && knee_find(of->sizes.size, one.misses, one.count, one.accesses, &at)) {
        one.knee = of->sizes.size[at];
    }
    return one;
}

/* Write ", eta 0.9, power 1" or {"eta":0.9,"power":1}: the first, as QSAC's eta, and others but defaults. */
static void write_parameters(const struct policy_curves *curves, bool json, char text[PARAMETERS])
{
    const struct policy_param *param = curves->policy->params;
    const char *comma = json ? "" : ", ";
    snprintf(text, PARAMETERS, "%s", json ? "{" : "");
    for (size_t i = 0; param != NULL && param[i].name != NULL; i++) {
        if (i == 0 || curves->values[i] != param[i].value) {
            text_append(text, PARAMETERS, json ? "%s\"%s\":%.15g" : "%s%s %.15g", comma,
                        param[i].name, curves->values[i]);
            comma = json ? "," : ", ";
        }
    }
    text_append(text, PARAMETERS, "%s", json ? "}" : "");
}

enum { POINT_POLICY, POINT_PARAMETERS, POINT_LAYER, POINT_HEAD, SIZE, ACCESSES, MISSES, POINTS };

static const struct frame_column point_columns[POINTS] = {
    [POINT_POLICY] = {.key = "policy"},
    [POINT_PARAMETERS] = {.key = "parameters", .unit = UNIT_JSON, .sparse = true},
    [POINT_LAYER] = {.key = "layer", .unit = UNIT_WHOLE, .sparse = true},
    [POINT_HEAD] = {.key = "head", .unit = UNIT_WHOLE, .sparse = true},
    [SIZE] = {.key = "size", .unit = UNIT_WHOLE},
    [ACCESSES] = {.key = "accesses", .unit = UNIT_WHOLE},
    [MISSES] = {.key = "misses", .unit = UNIT_WHOLE},
};

/* A line for each size of each curve; that of all is left out where those of groups add up to it. */
static bool curve_print_json(const struct curve_report *report, struct error *why)
{
    struct frame *frame = frame_create(point_columns, POINTS, why);
    for (uint32_t p = 0; p < report->count; p++) {
        const struct policy_curves *curves = &report->policies[p];
        for (uint32_t i = curves->curve.groups > 1; i < curves->curve.groups; i++) {
            const struct one_curve one = curve_at(report, curves, i);
            char parameters[PARAMETERS];
            write_parameters(one.of, true, parameters);
            for (uint32_t s = 0; s < one.count; s++) {
                frame_row(frame);
                frame_text(frame, POINT_POLICY, one.of->policy->name);
                frame_text(frame, POINT_PARAMETERS, parameters[1] != '}' ? parameters : NULL);
                frame_number(frame, POINT_LAYER, one.layer);
                frame_number(frame, POINT_HEAD, one.head);
                frame_number(frame, SIZE, one.of->sizes.size[s]);
                frame_number(frame, ACCESSES, (double)one.accesses);
                frame_number(frame, MISSES, (double)one.misses[s]);
            }
        }
    }
    bool ok = frame != NULL && frame_print_json(frame, stdout, why);
    frame_destroy(frame);
    return ok;
}

/* ---- for people: a row a curve, a column a size ---- */

/* So many sizes are too many beside a policy, which frame_create() says. */
enum { TABLE_POLICY, TABLE_LAYER, TABLE_HEAD, NAMES, MOST_SIZES = TABLE_MOST_COLUMNS };

static struct frame *table_frame(const struct curve_report *report, const struct curve_sizes *sizes,
                                 char titles[MOST_SIZES][32], struct error *why)
{
    struct frame_column columns[NAMES + MOST_SIZES] = {
        [TABLE_POLICY] = {.title = "policy"},
        [TABLE_LAYER] = {.title = report->group != MISS_WHOLE ? "layer" : NULL, .unit = UNIT_WHOLE},
        [TABLE_HEAD] = {.title = report->group == MISS_HEAD ? "head" : NULL, .unit = UNIT_WHOLE}};
    uint32_t count = (uint32_t)(sizes->count < MOST_SIZES ? sizes->count : MOST_SIZES);
    for (uint32_t i = 0; i < count; i++) {
        double share = 100.0 * sizes->size[i] / report->blocks;
        snprintf(titles[i], sizeof *titles, sizes->in_blocks ? "%.0f" : "%.1f%%",
                 sizes->in_blocks ? sizes->size[i] : share);
        columns[NAMES + i] = (struct frame_column){.title = titles[i], .unit = UNIT_SHARE};
    }
    return frame_create(columns, NAMES + count, why);
}

static void put_curve(const struct one_curve *one, const struct curve_sizes *sizes,
                      struct frame *frame)
{
    char parameters[PARAMETERS];
    write_parameters(one->of, false, parameters);
    frame_row(frame);
    frame_textf(frame, TABLE_POLICY, "%s%s", policy_title(one->of->policy), parameters);
    frame_number(frame, TABLE_LAYER, one->layer);
    frame_text(frame, TABLE_LAYER, isnan(one->layer) ? "all" : NULL);
    frame_text(frame, TABLE_HEAD, "");
    frame_number(frame, TABLE_HEAD, one->head);
    for (uint32_t i = 0; i < sizes->count && one->accesses > 0; i++) {
        uint32_t size = sizes->size[i], at = 0;
        while (at < one->count && one->of->sizes.size[at] != size) {
            at++;
        }
        if (at < one->count) {
            double misses = (double)one->misses[at];
            frame_textf(frame, NAMES + i, "%s%.1f", size > 0 && size == one->knee ? "*" : "",
                        100 * (1 - misses / (double)one->accesses));
        }
    }
}

static void print_title(const struct curve_report *report)
{
    uint64_t accesses = report->policies[0].curve.accesses[0];
    const char *by = report->policies[0].sizes.in_blocks ? " by blocks" : "";
    char chosen[LAYER_CHOICE_TEXT];
    if (report->trace == NULL) {
        printf("hit ratio in %%%s: %" PRIu64 " accesses to %" PRIu32 " blocks\n\n", by, accesses,
               report->blocks);
        return;
    }
    layer_choice_write(&report->layers, report->trace, chosen);
    printf("hit ratio in %%%s, a cache a head, on %s%s\ndemands of %g %% of %" PRIu32
           " blocks, %s; %" PRIu64 " accesses after %" PRIu32 " step%s of warm-up\n\n",
           by, report->source, chosen, 100 * report->selection, report->blocks,
           report->order == POLICY_BATCH ? "a step at a time" : "one by one", accesses,
           report->warmup, text_plural(report->warmup));
}

static bool curve_print_table(const struct curve_report *report, struct error *why)
{
    const struct curve_sizes *sizes = &report->policies[0].sizes;
    char titles[MOST_SIZES][32];
    for (uint32_t p = 1; p < report->count; p++) { /* of which other policies have some */
        const struct curve_sizes *other = &report->policies[p].sizes;
        sizes = other->count > sizes->count ? other : sizes;
    }
    struct frame *frame = table_frame(report, sizes, titles, why);
    bool ok = frame != NULL, lacks = false;
    for (uint32_t p = 0; ok && p < report->count; p++) {
        const struct policy_curves *curves = &report->policies[p];
        lacks = lacks || curves->sizes.count < sizes->count;
        for (uint32_t i = 0; i < curves->curve.groups; i++) {
            const struct one_curve one = curve_at(report, curves, i);
            put_curve(&one, sizes, frame);
        }
    }
    if (ok) {
        print_title(report);
        ok = frame_print(frame, NULL, stdout, why);
        bool bends = sizes->count > 1;
        printf(
            "%s%s%s", bends || lacks ? "\n" : "",
            bends
                ? "* knee: the size whose misses lie furthest below the line from no cache to the "
                  "largest size\n"
                : "",
            lacks ? "-: the cache is smaller than a head's demand, so no set could be reused\n"
                  : "");
    }
    frame_destroy(frame);
    return ok;
}

/* ---- rows of the database ---- */

#define LIST "tables/curves.def"
#define ID(name) DATA_##name
#define ARRAY stored_columns
#include "tables/columns.h"

static const struct frame_column stored_points[] = {
    {.key = "curve"}, {.key = "size", .unit = UNIT_WHOLE}, {.key = "misses", .unit = UNIT_WHOLE}};

/* All that has a part in the curve's figures identifies it. */
static void write_name(const struct curve_report *report, const struct one_curve *one,
                       const char *source, const char *parameters, char name[17])
{
    const struct policy_kind *policy = one->of->policy;
    bool trace = report->trace != NULL;
    const int64_t numbers[] = {report->blocks,
                               trace ? (int64_t)trace_header(report->trace)->unit_tokens : -1,
                               report->warmup, isnan(one->layer) ? -1 : (int64_t)one->layer,
                               isnan(one->head) ? -1 : (int64_t)one->head};
    const char *const texts[] = {policy_orders[report->order], source, parameters, policy->name};
    double selection = trace ? report->selection : -1;
    uint64_t hash = XXH64(numbers, sizeof numbers, policy->content);
    hash = XXH64(&selection, sizeof selection, hash);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        hash = XXH64(texts[i], strlen(texts[i]) + 1, hash);
    }
    snprintf(name, 17, "%016" PRIx64, hash);
}

static void store_curve(const struct curve_report *report, const struct one_curve *one,
                        struct frame *const frames[2])
{
    const struct policy_kind *policy = one->of->policy;
    char parameters[PARAMETERS], name[17], source[17];
    bool trace = report->trace != NULL;
    write_parameters(one->of, true, parameters);
    snprintf(source, sizeof source, "%016" PRIx64, report->hash);
    write_name(report, one, source, parameters, name);
    frame_row(frames[0]);
    frame_text(frames[0], DATA_curve, name);
    frame_text(frames[0], DATA_source, report->source);
    frame_text(frames[0], DATA_source_hash, source);
    frame_number(frames[0], DATA_blocks, report->blocks);
    frame_number(frames[0], DATA_unit_tokens,
                 trace ? trace_header(report->trace)->unit_tokens : (double)NAN);
    frame_number(frames[0], DATA_selection, trace ? report->selection : (double)NAN);
    frame_text(frames[0], DATA_step_order, policy_orders[report->order]);
    frame_number(frames[0], DATA_warmup, report->warmup);
    frame_text(frames[0], DATA_policy, policy->name);
    frame_text(frames[0], DATA_policy_title, policy_title(policy));
    frame_text(frames[0], DATA_parameters, parameters);
    frame_number(frames[0], DATA_layer, one->layer);
    frame_number(frames[0], DATA_head, one->head);
    frame_number(frames[0], DATA_accesses, (double)one->accesses);
    frame_number(frames[0], DATA_knee, one->knee > 0 ? (double)one->knee : NAN);
    for (uint32_t i = 0; i < one->count; i++) {
        frame_row(frames[1]);
        frame_text(frames[1], 0, name);
        frame_number(frames[1], 1, one->of->sizes.size[i]);
        frame_number(frames[1], 2, (double)one->misses[i]);
    }
}

/* A curve that is already stored keeps its points at other sizes. */
static bool curve_store(const struct curve_report *report, struct store *store, struct error *why)
{
    struct frame *frames[] = {frame_create(stored_columns, DATA_COUNT, why),
                              frame_create(stored_points, 3, why)};
    for (uint32_t p = 0; p < report->count; p++) {
        for (uint32_t i = 0; i < report->policies[p].curve.groups; i++) {
            const struct one_curve one = curve_at(report, &report->policies[p], i);
            store_curve(report, &one, frames);
        }
    }
    const struct store_frame stored[] = {
        {.table = "curves", .frame = frames[0]},
        {.table = "curve_points", .frame = frames[1]},
    };
    bool ok = store_put_frames(store, stored, 2, why);
    frame_destroy(frames[0]);
    frame_destroy(frames[1]);
    return ok;
}

/* The database is opened first, so that a bad path fails before the computation. */
static bool curve_run(const struct arguments *arguments, struct error *why)
{
    uint32_t count;
    struct curve_report report = {.source = arguments_operands(arguments, &count)[0]};
    struct store *store = NULL;
    const char *suffix = strrchr(report.source, '.');
    bool ids = suffix != NULL && strcmp(suffix, ".u32") == 0;
    bool ok =
        (ids ? open_ids : open_trace)(arguments, &report, why) &&
        database_open(arguments, &store, why) && fill_report(arguments, &report, why) &&
        (store == NULL || curve_store(&report, store, why)) &&
        (arguments_given(arguments, JSON) ? curve_print_json : curve_print_table)(&report, why);
    store_close(store);
    for (uint32_t i = 0; i < report.count; i++) {
        miss_curve_release(&report.policies[i].curve);
        free(report.policies[i].sizes.size);
    }
    free(report.policies);
    trace_close(report.trace);
    ids_release(&report.ids);
    return ok;
}

const struct command command_curve = {
    .name = "curve",
    .operands = "TRACE|IDS.u32",
    .summary = "print the hit ratios of cache policies at a range of cache sizes",
    .example = "spillway curve smollm2-135m --policy arc --sizes 10%,30%\n"
               "spillway curve smollm2-135m --policy lru --policy '{name: qsac, eta: 0.9}'",
    .options = options,
    .run = curve_run,
};
