/* Curves as tables. One curve: one row per size. Several curves: one row each, one column per size.
 */
#include "core/array.h"
#include "core/text.h"
#include "cli/curve/curve_report.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { LABEL = CURVE_PARAMETERS + 256 };

static const char *const order_names[] = {
    [POLICY_BATCH] = "a step at a time", [POLICY_SEQUENTIAL] = "one by one"};
static const char knee_note[] = "* knee: the size whose misses lie furthest below the line from "
                                "no cache to the largest size\n";

static void write_label(const struct curve_report *report, const struct policy_curves *curves,
                        char text[LABEL])
{
    char parameters[CURVE_PARAMETERS];
    curve_report_parameters(curves, &parameter_words, parameters);
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
        curve_report_parameters(curves, &parameter_json, parameters);
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

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A percentile of hits over the groups, by nearest rank. */
static double percentile(const struct miss_curve *curve, uint32_t at, double share, double *scratch)
{
    uint32_t count = 0;
    for (uint32_t group = 0; group < curve->groups; group++) {
        scratch[count] = hit_percent(curve, group, at);
        count += isnan(scratch[count]) ? 0 : 1;
    }
    qsort(scratch, count, sizeof *scratch, compare_numbers);
    return count > 0 ? scratch[(uint32_t)(share * (count - 1) + 0.5)] : (double)NAN;
}

/* Rows that show the spread over the groups. */
static bool put_spread(const struct matrix *matrix, const struct policy_curves *curves,
                       struct error *why)
{
    static const struct {
        const char *name;
        double share;
    } spread[] = {{"p10", .1}, {"median", .5}, {"p90", .9}};
    double *scratch = array_zeroed(curves->curve.groups, sizeof *scratch, why);
    for (size_t s = 0; scratch != NULL && s < sizeof spread / sizeof *spread; s++) {
        put_label(matrix, curves);
        frame_text(matrix->frame, LAYER, spread[s].name);
        for (size_t i = 0; i < matrix->sizes->count; i++) {
            uint32_t at = curve_table_find_size(curves, matrix->sizes->size[i]);
            curve_table_put_hits(matrix, i,
                                 percentile(&curves->curve, at, spread[s].share, scratch), false);
        }
    }
    free(scratch);
    return scratch != NULL;
}

static bool fill_matrix(const struct matrix *matrix, struct error *why)
{
    bool ok = true;
    for (uint32_t p = 0; ok && p < matrix->report->count; p++) {
        const struct policy_curves *curves = &matrix->report->policies[p];
        for (uint32_t group = 0; group < curves->curve.groups; group++) {
            curve_table_put_curve(matrix, curves, &curves->curve, group);
        }
        if (matrix->report->group != MISS_WHOLE) {
            curve_table_put_curve(matrix, curves, &curves->whole, 0);
            ok = put_spread(matrix, curves, why);
        }
    }
    return ok;
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
    bool ok = matrix.frame != NULL && (list || fill_matrix(&matrix, why));
    if (ok) {
        curve_table_print_title(report);
        ok = frame_print(matrix.frame, NULL, stdout, why);
        printf("\n%s", knee_note);
        curve_report_notes(report, stdout);
    }
    frame_destroy(matrix.frame);
    return ok;
}
