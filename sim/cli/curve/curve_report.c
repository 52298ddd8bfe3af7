/* Curves as tables. One curve: one row per size. Several curves: one row each, one column per size.
 */

#include "cli/curve/curve_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "core/array.h"
#include "core/text.h"
#include "core/units.h"
#include "decode/replay/replay_job.h"
#include "policy/policy.h"
#include "policy/qsac.h"
#include "store/stored_run.h"
#include "study/whatif/whatif_study.h"
#include "tables/table.h"

enum { LABEL = CURVE_PARAMETERS + 256 };

static const char *const order_names[] = {
    [POLICY_BATCH] = "a step at a time", [POLICY_SEQUENTIAL] = "one by one"};
static const char knee_note[] = "* knee: the size whose misses lie furthest below the line from "
                                "no cache to the largest size\n";

/* ---- what is said of a curve ---- */

/* Layer, as the model numbers it, and head of a group; -1: all. */
static void curve_report_place(const struct curve_report *report, uint32_t group, int64_t *layer,
                               int64_t *head)
{
    uint32_t heads = report->group == MISS_HEAD ? trace_header(report->trace)->kv_heads : 1;
    *layer =
        report->group == MISS_WHOLE ? -1 : (int64_t)trace_model_layer(report->trace, group / heads);
    *head = report->group == MISS_HEAD ? (int64_t)(group % heads) : -1;
}

/* What the report calls a policy: a plug-in by the name that it gives itself, unless another policy
 * of the report has that name. */
static const char *curve_report_title(const struct curve_report *report,
                                      const struct policy_curves *curves)
{
    const struct policy_kind *own = curves->policy;
    bool taken = own->title == NULL;
    for (uint32_t i = 0; !taken && i < report->count; i++) {
        const struct policy_kind *other = report->policies[i].policy;
        taken = other != own && strcmp(own->title, policy_title(other)) == 0;
    }
    return taken ? own->name : own->title;
}

void curve_report_parameters(const struct policy_curves *curves, bool json,
                             char text[CURVE_PARAMETERS])
{
    const struct policy_param *param = curves->policy->params;
    const char *comma = "";
    snprintf(text, CURVE_PARAMETERS, "%s", json ? "{" : "");
    for (size_t i = 0; param != NULL && param[i].name != NULL; i++) {
        if (i == 0 || curves->values[i] != param[i].value) {
            text_append(text, CURVE_PARAMETERS, json ? "%s\"%s\":%.15g" : "%s%s %.15g", comma,
                        param[i].name, curves->values[i]);
            comma = json ? "," : ", ";
        }
    }
    text_append(text, CURVE_PARAMETERS, "%s", json ? "}" : "");
}

uint32_t curve_report_knee(const struct curve_sizes *sizes, const struct miss_curve *curve,
                           uint32_t group)
{
    uint32_t at;
    const uint64_t *misses = miss_curve_group(curve, group);
    bool flat = curve->count > 0;
    for (uint32_t i = 1; i < curve->count; i++) {
        flat = flat && misses[i] == misses[0];
    }
    return !flat && knee_find(sizes->size, misses, curve->count, curve->accesses[group], &at)
               ? sizes->size[at]
               : 0;
}

static void write_label(const struct curve_report *report, const struct policy_curves *curves,
                        char text[LABEL])
{
    char parameters[CURVE_PARAMETERS];
    curve_report_parameters(curves, false, parameters);
    snprintf(text, LABEL, "%s%s%s", curve_report_title(report, curves),
             parameters[0] != '\0' ? ", " : "", parameters);
}

/* Hits of a group at a size in percent of accesses; NaN without accesses, or if the policy has no
 * such size. */
static double hit_percent(const struct miss_curve *curve, uint32_t group, uint32_t at)
{
    uint64_t accesses = curve->accesses[group];
    return accesses > 0 && at < curve->count
               ? 100 * (1 - (double)miss_curve_group(curve, group)[at] / (double)accesses)
               : (double)NAN;
}

/* ---- one curve ---- */

enum { POLICY, PARAMETERS, LAYER, HEAD, SIZE, SHARE, HITS, ACCESSES, MISSES, COLUMNS };

static const struct frame_column columns[COLUMNS] = {
    [POLICY] = {.key = "policy"},
    [PARAMETERS] = {.key = "parameters", .unit = UNIT_JSON, .sparse = true},
    [LAYER] = {.key = "layer", .unit = UNIT_WHOLE, .sparse = true},
    [HEAD] = {.key = "head", .unit = UNIT_WHOLE, .sparse = true},
    [SIZE] = {.key = "size", .title = "blocks", .unit = UNIT_WHOLE},
    [SHARE] = {.title = "of all", .unit = UNIT_PERCENT_TENTHS},
    [HITS] = {.title = "hit ratio", .unit = UNIT_PERCENT},
    [ACCESSES] = {.key = "accesses", .unit = UNIT_WHOLE},
    [MISSES] = {.key = "misses", .title = "misses", .unit = UNIT_WHOLE},
};

static void put_place(const struct curve_report *report, uint32_t group, struct frame *frame)
{
    int64_t layer, head;
    curve_report_place(report, group, &layer, &head);
    frame_number(frame, LAYER, layer >= 0 ? (double)layer : NAN);
    frame_number(frame, HEAD, head >= 0 ? (double)head : NAN);
}

static void curve_table_put_point(const struct curve_report *report,
                                  const struct policy_curves *curves, uint32_t group, uint32_t at,
                                  struct frame *frame)
{
    const struct miss_curve *curve = &curves->curve;
    uint32_t size = curves->sizes.size[at];
    bool knee = size > 0 && size == curve_report_knee(&curves->sizes, curve, group);
    double percent = hit_percent(curve, group, at);
    frame_number(frame, SIZE, size);
    frame_number(frame, SHARE, (double)size / report->blocks);
    if (!isnan(percent)) {
        frame_textf(frame, HITS, "%s%.2f %%", knee ? "*" : "", percent);
    }
    frame_number(frame, ACCESSES, (double)curve->accesses[group]);
    frame_number(frame, MISSES, (double)miss_curve_group(curve, group)[at]);
}

/* A row for each size of each curve. */
static struct frame *points_frame(const struct curve_report *report, struct error *why)
{
    struct frame *frame = frame_create(columns, COLUMNS, why);
    for (uint32_t p = 0; p < report->count; p++) {
        const struct policy_curves *curves = &report->policies[p];
        char parameters[CURVE_PARAMETERS];
        curve_report_parameters(curves, true, parameters);
        for (uint32_t i = 0; i < curves->curve.groups * curves->curve.count; i++) {
            uint32_t group = i / curves->curve.count;
            frame_row(frame);
            frame_text(frame, POLICY, curves->policy->name);
            frame_text(frame, PARAMETERS, parameters[1] != '}' ? parameters : NULL);
            put_place(report, group, frame);
            curve_table_put_point(report, curves, group, i % curves->curve.count, frame);
        }
    }
    return frame;
}

bool curve_report_json(const struct curve_report *report, struct error *why)
{
    struct frame *frame = points_frame(report, why);
    bool ok = frame != NULL && frame_print_json(frame, stdout, why);
    frame_destroy(frame);
    return ok;
}

/* ---- many curves ---- */

enum { NAMES = SIZE, MATRIX_COLUMNS = TABLE_MOST_COLUMNS + NAMES };

/* One row a curve, one column per size. The sizes are those of the policy with the most; other
 * policies have some of them. */
struct matrix {
    const struct curve_report *report;
    const struct curve_sizes *sizes;
    struct frame *frame;
};

/* Index of a size in the list of a policy; the list's count if it is absent. */
static uint32_t curve_table_find_size(const struct policy_curves *curves, uint32_t size)
{
    uint32_t at = 0;
    while (at < curves->curve.count && curves->sizes.size[at] != size) {
        at++;
    }
    return at;
}

static void put_label(const struct matrix *matrix, const struct policy_curves *curves)
{
    char label[LABEL];
    write_label(matrix->report, curves, label);
    frame_row(matrix->frame);
    frame_text(matrix->frame, POLICY, label);
    frame_text(matrix->frame, HEAD, "");
}

static void curve_table_put_hits(const struct matrix *matrix, size_t i, double percent, bool knee)
{
    if (!isnan(percent)) {
        frame_textf(matrix->frame, NAMES + (uint32_t)i, "%s%.1f", knee ? "*" : "", percent);
    }
}

/* A row for one group of the policy's curves, or for their sum. */
static void curve_table_put_curve(const struct matrix *matrix, const struct policy_curves *curves,
                                  const struct miss_curve *curve, uint32_t group)
{
    uint32_t knee = curve_report_knee(&curves->sizes, curve, group);
    put_label(matrix, curves);
    if (curve == &curves->whole) {
        frame_text(matrix->frame, LAYER, "all");
    } else {
        put_place(matrix->report, group, matrix->frame);
    }
    for (size_t i = 0; i < matrix->sizes->count; i++) {
        uint32_t size = matrix->sizes->size[i];
        curve_table_put_hits(matrix, i,
                             hit_percent(curve, group, curve_table_find_size(curves, size)),
                             size > 0 && size == knee);
    }
}

static void fill_matrix(const struct matrix *matrix)
{
    for (uint32_t p = 0; p < matrix->report->count; p++) {
        const struct policy_curves *curves = &matrix->report->policies[p];
        for (uint32_t group = 0; group < curves->curve.groups; group++) {
            curve_table_put_curve(matrix, curves, &curves->curve, group);
        }
        if (matrix->report->group != MISS_WHOLE) {
            curve_table_put_curve(matrix, curves, &curves->whole, 0);
        }
    }
}

static const struct curve_sizes *most_sizes(const struct curve_report *report)
{
    const struct curve_sizes *most = &report->policies[0].sizes;
    for (uint32_t p = 1; p < report->count; p++) {
        const struct curve_sizes *sizes = &report->policies[p].sizes;
        most = sizes->count > most->count ? sizes : most;
    }
    return most;
}

/* Policy, layer and head are named where they differ. */
static struct frame *matrix_frame(const struct curve_report *report,
                                  const struct curve_sizes *sizes,
                                  char titles[TABLE_MOST_COLUMNS][32], struct error *why)
{
    struct frame_column names[MATRIX_COLUMNS] = {
        [POLICY] = {.title = report->count > 1 ? "policy" : NULL},
        [LAYER] = {.title = report->group != MISS_WHOLE ? "layer" : NULL, .unit = UNIT_WHOLE},
        [HEAD] = {.title = report->group == MISS_HEAD ? "head" : NULL, .unit = UNIT_WHOLE}};
    uint32_t named = 0;
    for (uint32_t i = 0; i < NAMES; i++) {
        named += names[i].title != NULL ? 1 : 0;
    }
    if (named + sizes->count > TABLE_MOST_COLUMNS) {
        error_usage(why, NULL, 0, "%zu sizes are too many for a table with a column each",
                    sizes->count);
        error_expect(why, "at most %u sizes, or --json", TABLE_MOST_COLUMNS - named);
        return NULL;
    }
    for (size_t i = 0; i < sizes->count; i++) {
        double share = 100.0 * sizes->size[i] / report->blocks;
        snprintf(titles[i], sizeof titles[i], sizes->in_blocks ? "%.0f" : "%.1f%%",
                 sizes->in_blocks ? sizes->size[i] : share);
        names[NAMES + i] = (struct frame_column){.title = titles[i], .unit = UNIT_SHARE};
    }
    return frame_create(names, NAMES + (uint32_t)sizes->count, why);
}

/* The lines below the tables of curves. */

/* A smaller share of first uses moves no curve by much. */
#define FIRST_USES_TOLD 0.05

enum { LINE = 512 };

/* A block that is wanted for the first time hits only if caches began with it. */
static void print_first_uses(const struct curve_report *report, FILE *out)
{
    const struct miss_curve *whole = NULL;
    char line[LINE] = "";
    for (uint32_t i = 0; whole == NULL && i < report->count; i++) {
        whole = replay_can_fill(report->policies[i].policy) ? &report->policies[i].whole : NULL;
    }
    if (whole == NULL || report->trace == NULL ||
        (double)whole->first_uses[0] < FIRST_USES_TOLD * (double)whole->accesses[0]) {
        return;
    }
    text_append(line, LINE,
                "first uses: %.0f %% of the accesses are to blocks that no earlier step wanted. "
                "Caches begin full, with the blocks that the first step weighs most and the latest "
                "ones, so such an access can hit",
                100 * (double)whole->first_uses[0] / (double)whole->accesses[0]);
    table_line("", line, out);
}

/* QSAC reuses whole sets, so the smallest of its caches holds a set. */
static void print_lacking(const struct curve_report *report, FILE *out)
{
    bool lacks = false;
    for (uint32_t i = 1; i < report->count; i++) {
        lacks = lacks || report->policies[i].sizes.count != report->policies[0].sizes.count;
    }
    if (lacks) {
        table_line("", "-: the cache is smaller than a head's demand, so no set could be reused",
                   out);
    }
}

static void curve_report_notes(const struct curve_report *report, FILE *out)
{
    print_lacking(report, out);
    print_first_uses(report, out);
}

/* ---- all ---- */

static void curve_table_print_title(const struct curve_report *report)
{
    uint64_t accesses = report->policies[0].whole.accesses[0];
    char label[LABEL] = "hit ratio in %";
    if (report->policies[0].sizes.in_blocks) {
        text_append(label, LABEL, " by blocks");
    }
    if (report->count == 1) {
        write_label(report, &report->policies[0], label);
    }
    if (report->trace == NULL) {
        printf("%s: %" PRIu64 " accesses to %" PRIu32 " blocks\n\n", label, accesses,
               report->blocks);
        return;
    }
    printf("%s, a cache a head, on %s%s\ndemands of %g %% of %" PRIu32 " blocks, %s; %" PRIu64
           " accesses after %" PRIu32 " step%s of warm-up\n\n",
           label, report->source, report->chosen, 100 * report->selection, report->blocks,
           order_names[report->order], accesses, report->warmup, text_plural(report->warmup));
}

bool curve_report_tables(const struct curve_report *report, struct error *why)
{
    char titles[TABLE_MOST_COLUMNS][32];
    struct matrix matrix = {.report = report, .sizes = most_sizes(report)};
    bool list = report->count == 1 && report->group == MISS_WHOLE;
    matrix.frame =
        list ? points_frame(report, why) : matrix_frame(report, matrix.sizes, titles, why);
    bool ok = matrix.frame != NULL;
    if (ok) {
        if (!list) {
            fill_matrix(&matrix);
        }
        curve_table_print_title(report);
        ok = frame_print(matrix.frame, NULL, stdout, why);
        printf("\n%s", knee_note);
        curve_report_notes(report, stdout);
    }
    frame_destroy(matrix.frame);
    return ok;
}

/* Closer together at small sizes, where curves bend. */
static const char default_list[] = "1%,2%,5%,10%,15%,20%,30%,40%,50%,70%,100%";

void curve_sizes_release(struct curve_sizes *sizes)
{
    free(sizes->size);
    *sizes = (struct curve_sizes){.size = NULL};
}

static bool sizes_add(struct curve_sizes *sizes, double size, struct error *why)
{
    if (!array_reserve(&sizes->size, &sizes->capacity, sizes->count + 1, sizeof *sizes->size,
                       why)) {
        return false;
    }
    sizes->size[sizes->count++] = (uint32_t)size;
    return true;
}

static bool curve_sizes_add_text(struct curve_sizes *sizes, const char *text, uint32_t blocks,
                                 struct error *why)
{
    struct quantity quantity;
    bool known = quantity_parse(text, &quantity) && quantity.value >= 0;
    if (known && quantity.unit == UNIT_COUNT && quantity.value > 0 && quantity.value < 1) {
        quantity.unit = UNIT_SHARE; /* 0.1 is 10% */
    }
    if (known && quantity.unit == UNIT_SHARE && quantity.value <= 1) {
        double share = quantity.value;
        sizes->in_blocks = false;
        return sizes_add(sizes, share > 0 ? fmax(1, floor(share * blocks + 0.5)) : 0, why);
    }
    if (known && quantity.unit == UNIT_COUNT && quantity.value <= UINT32_MAX &&
        quantity.value == floor(quantity.value)) {
        return sizes_add(sizes, quantity.value, why);
    }
    error_usage(why, NULL, 0, "--sizes: '%s' is not a size", text);
    return error_expect(why, "numbers of blocks, as 512, or shares, as 30%%, separated by commas");
}

/* With few blocks, several shares give the same size. */
static void drop_repeated(struct curve_sizes *sizes)
{
    size_t kept = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        if (kept == 0 || sizes->size[i] != sizes->size[kept - 1]) {
            sizes->size[kept++] = sizes->size[i];
        }
    }
    sizes->count = kept;
}

bool curve_sizes_read(const char *list, uint32_t blocks, struct curve_sizes *sizes,
                      struct error *why)
{
    char *copy = strdup(list != NULL ? list : default_list), *rest = copy, *text;
    bool ok = copy != NULL || error_set(why, NULL, 0, "out of memory");
    sizes->in_blocks = true;
    while (ok && (text = strsep(&rest, ",")) != NULL) {
        ok = curve_sizes_add_text(sizes, text, blocks, why);
    }
    free(copy);
    if (list == NULL) {
        drop_repeated(sizes);
    }
    return ok;
}

bool curve_sizes_all(uint32_t blocks, struct curve_sizes *sizes, struct error *why)
{
    bool ok = true;
    for (uint32_t size = 1; ok && size <= blocks; size++) {
        ok = sizes_add(sizes, size, why);
    }
    return ok;
}

void curve_sizes_keep(struct curve_sizes *sizes, uint32_t least)
{
    size_t kept = 0;
    for (size_t i = 0; i < sizes->count; i++) {
        if (sizes->size[i] >= least) {
            sizes->size[kept++] = sizes->size[i];
        }
    }
    sizes->count = kept;
}

/* ---- the curves as rows of the database ---- */

enum {
#define FIELD(name, type, what) DATA_##name,
#include "tables/curves.def"
#undef FIELD
    CURVE_COLUMNS
};

static const struct frame_column curve_columns[CURVE_COLUMNS] = {
#define FIELD(id, type, meaning) {.key = #id, .unit = UNIT_##type},
#include "tables/curves.def"
#undef FIELD
};

enum { POINT_CURVE, POINT_SIZE, POINT_MISSES, POINT_COLUMNS };

static const struct frame_column point_columns[POINT_COLUMNS] = {
    [POINT_CURVE] = {.key = "curve"},
    [POINT_SIZE] = {.key = "size", .unit = UNIT_WHOLE},
    [POINT_MISSES] = {.key = "misses", .unit = UNIT_WHOLE},
};

/* A curve, all that is known of it but its points. Numbers of -1 become null. */
struct stored {
    char name[17], source[17];
    int64_t unit_tokens;
    double selection;
    const char *order, *parameters;
    int64_t layer, head;
};

static uint64_t curve_store_hash_text(const char *text, uint64_t seed)
{
    return XXH64(text, strlen(text) + 1, seed);
}

/* All that has a part in the curve's figures identifies it. */
static void curve_store_write_name(const struct curve_report *report,
                                   const struct policy_kind *policy, struct stored *curve)
{
    const int64_t numbers[] = {report->blocks, curve->unit_tokens, report->warmup, curve->layer,
                               curve->head};
    uint64_t hash = XXH64(numbers, sizeof numbers, policy->content);
    hash = XXH64(&curve->selection, sizeof curve->selection, hash);
    hash = curve_store_hash_text(curve->source, curve_store_hash_text(curve->order, hash));
    hash = curve_store_hash_text(policy->name, curve_store_hash_text(curve->parameters, hash));
    snprintf(curve->name, sizeof curve->name, "%016" PRIx64, hash);
}

static void curve_store_put_whole(struct frame *frame, uint32_t column, int64_t number)
{
    frame_number(frame, column, number >= 0 ? (double)number : NAN);
}

static void curve_store_put_curve(const struct curve_report *report,
                                  const struct policy_curves *curves, const struct stored *curve,
                                  struct frame *frame)
{
    frame_row(frame);
    frame_text(frame, DATA_curve, curve->name);
    frame_text(frame, DATA_source, report->source);
    frame_text(frame, DATA_source_hash, curve->source);
    frame_number(frame, DATA_blocks, report->blocks);
    curve_store_put_whole(frame, DATA_unit_tokens, curve->unit_tokens);
    frame_number(frame, DATA_selection, curve->selection >= 0 ? curve->selection : NAN);
    frame_text(frame, DATA_step_order, curve->order);
    frame_number(frame, DATA_warmup, report->warmup);
    frame_text(frame, DATA_policy, curves->policy->name);
    frame_text(frame, DATA_policy_title, curve_report_title(report, curves));
    frame_text(frame, DATA_parameters, curve->parameters);
    curve_store_put_whole(frame, DATA_layer, curve->layer);
    curve_store_put_whole(frame, DATA_head, curve->head);
}

/* Put a curve, and its points: of a group, or of the sum if `layer` and `head` are -1. */
static void put_group(const struct curve_report *report, const struct policy_curves *curves,
                      const struct miss_curve *curve, uint32_t group, struct stored *stored,
                      struct frame *const frames[2])
{
    uint32_t knee = curve_report_knee(&curves->sizes, curve, group);
    curve_store_write_name(report, curves->policy, stored);
    curve_store_put_curve(report, curves, stored, frames[0]);
    frame_number(frames[0], DATA_accesses, (double)curve->accesses[group]);
    frame_number(frames[0], DATA_knee, knee > 0 ? (double)knee : NAN);
    for (uint32_t i = 0; i < curve->count; i++) {
        frame_row(frames[1]);
        frame_text(frames[1], POINT_CURVE, stored->name);
        frame_number(frames[1], POINT_SIZE, curves->sizes.size[i]);
        frame_number(frames[1], POINT_MISSES, (double)miss_curve_group(curve, group)[i]);
    }
}

/* The curve of all heads, and those of the groups if there are several. */
static void curve_store_put_policy(const struct curve_report *report,
                                   const struct policy_curves *curves,
                                   struct frame *const frames[2])
{
    char parameters[CURVE_PARAMETERS];
    struct stored stored = {
        .unit_tokens =
            report->trace != NULL ? (int64_t)trace_header(report->trace)->unit_tokens : -1,
        .selection = report->trace != NULL ? report->selection : -1,
        .order = report->order == POLICY_BATCH ? "batch" : "sequential",
        .parameters = parameters,
    };
    snprintf(stored.source, sizeof stored.source, "%016" PRIx64, report->hash);
    curve_report_parameters(curves, true, parameters);
    for (uint32_t group = 0; report->group != MISS_WHOLE && group < curves->curve.groups; group++) {
        curve_report_place(report, group, &stored.layer, &stored.head);
        put_group(report, curves, &curves->curve, group, &stored, frames);
    }
    stored.layer = stored.head = -1;
    put_group(report, curves, &curves->whole, 0, &stored, frames);
}

/* A curve that is already stored is replaced with all its points, as it may have had other sizes. */
bool curve_report_store(const struct curve_report *report, struct store *store, struct error *why)
{
    struct frame *frames[] = {frame_create(curve_columns, CURVE_COLUMNS, why),
                              frame_create(point_columns, POINT_COLUMNS, why)};
    for (uint32_t p = 0; p < report->count; p++) {
        curve_store_put_policy(report, &report->policies[p], frames);
    }
    const struct store_frame stored[] = {
        {.table = "curves", .frame = frames[0], .is_nameless = true},
        {.table = "curve_points", .frame = frames[1], .is_nameless = true, .whole = "curve"},
    };
    bool ok = store_put_frames(store, stored, 2, why);
    frame_destroy(frames[0]);
    frame_destroy(frames[1]);
    return ok;
}
