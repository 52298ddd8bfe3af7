/* Curves as tables. One curve: one row per size. Several curves: one row each, one column per size.
 */
#include "base/array.h"
#include "base/text.h"
#include "cli/curve/curve_report.h"
#include "answer/table.h"

#include <inttypes.h>
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

/* Hits in percent of accesses; -1 without accesses. */
static double hit_percent(uint64_t accesses, uint64_t misses)
{
    return accesses > 0 ? 100 * (1 - (double)misses / (double)accesses) : -1;
}

static void write_hits(char text[32], double percent, int digits, const char *unit, bool knee)
{
    if (percent < 0) {
        snprintf(text, 32, "-");
    } else {
        snprintf(text, 32, "%s%.*f%s", knee ? "*" : "", digits, percent, unit);
    }
}

/* One curve per policy: one row per size. */
static bool fill_list(const struct curve_report *report, struct table *table, struct error *why)
{
    const struct policy_curves *curves = &report->policies[0];
    uint32_t knee = curve_report_knee(&curves->sizes, &curves->whole, 0);
    bool ok = true;
    for (uint32_t i = 0; ok && i < curves->whole.count; i++) {
        char blocks[32], share[32], hits[32], missed[32];
        uint32_t size = curves->sizes.size[i];
        uint64_t misses = curves->whole.misses[i];
        snprintf(blocks, sizeof blocks, "%" PRIu32, size);
        snprintf(share, sizeof share, "%.1f %%", 100.0 * size / report->blocks);
        write_hits(hits, hit_percent(curves->whole.accesses[0], misses), 2, " %",
                   size > 0 && size == knee);
        snprintf(missed, sizeof missed, "%" PRIu64, misses);
        const char *texts[] = {blocks, share, hits, missed};
        ok = table_add(table, texts, 4, why);
    }
    return ok;
}

static const struct table_column list_columns[] = {{.title = "blocks", .right = true},
                                                   {.title = "of all", .right = true},
                                                   {.title = "hit ratio", .right = true},
                                                   {.title = "misses", .right = true}};

/* Many curves: one row each, one column per size. The sizes are those of the policy with the most;
 * other policies have some of them. */
struct matrix {
    const struct curve_report *report;
    const struct curve_sizes *sizes;
    uint32_t names; /* columns before the sizes */
    struct table *table;
};

static bool add_row(struct matrix *matrix, const char *policy, const char *layer, const char *head,
                    char (*cells)[32], struct error *why)
{
    const char *texts[TABLE_MOST_COLUMNS];
    uint32_t count = 0;
    if (matrix->report->count > 1) {
        texts[count++] = policy;
    }
    if (matrix->report->group != MISS_WHOLE) {
        texts[count++] = layer;
    }
    if (matrix->report->group == MISS_HEAD) {
        texts[count++] = head;
    }
    for (size_t i = 0; i < matrix->sizes->count; i++) {
        texts[count++] = cells[i];
    }
    return table_add(matrix->table, texts, count, why);
}

/* Index of a size in the list of a policy; the list's count if it is absent. */
static uint32_t find_size(const struct policy_curves *curves, uint32_t size)
{
    uint32_t at = 0;
    while (at < curves->curve.count && curves->sizes.size[at] != size) {
        at++;
    }
    return at;
}

/* A row for one group of the policy's curves, or for their sum. */
static bool add_curve(struct matrix *matrix, const struct policy_curves *curves,
                      const struct miss_curve *curve, uint32_t group, const char *layer,
                      const char *head, struct error *why)
{
    char policy[LABEL], cells[TABLE_MOST_COLUMNS][32];
    uint32_t knee = curve_report_knee(&curves->sizes, curve, group);
    write_label(matrix->report, curves, policy);
    for (size_t i = 0; i < matrix->sizes->count; i++) {
        uint32_t size = matrix->sizes->size[i], at = find_size(curves, size);
        double percent = at == curve->count ? -1
                                            : hit_percent(curve->accesses[group],
                                                          miss_curve_group(curve, group)[at]);
        write_hits(cells[i], percent, 1, "", size > 0 && size == knee);
    }
    return add_row(matrix, policy, layer, head, cells, why);
}

static bool add_group(struct matrix *matrix, const struct policy_curves *curves, uint32_t group,
                      struct error *why)
{
    char layer_text[32], head_text[32];
    int64_t layer, head;
    curve_report_place(matrix->report, group, &layer, &head);
    snprintf(layer_text, sizeof layer_text, "%" PRId64, layer);
    snprintf(head_text, sizeof head_text, "%" PRId64, head);
    return add_curve(matrix, curves, &curves->curve, group, layer_text, head_text, why);
}

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* A percentile of hits over the groups, by nearest rank. */
static double percentile(const struct policy_curves *curves, uint32_t at, double share,
                         double *scratch)
{
    uint32_t count = 0;
    for (uint32_t group = 0; at < curves->curve.count && group < curves->curve.groups; group++) {
        if (curves->curve.accesses[group] > 0) {
            scratch[count++] = hit_percent(curves->curve.accesses[group],
                                           miss_curve_group(&curves->curve, group)[at]);
        }
    }
    if (count == 0) {
        return -1;
    }
    qsort(scratch, count, sizeof *scratch, compare_numbers);
    return scratch[(uint32_t)(share * (count - 1) + 0.5)];
}

/* Rows that show the spread over the groups. */
static bool add_spread(struct matrix *matrix, const struct policy_curves *curves, struct error *why)
{
    static const struct {
        const char *name;
        double share;
    } spread[] = {{"p10", .1}, {"median", .5}, {"p90", .9}};
    double *scratch = array_zeroed(curves->curve.groups, sizeof *scratch, why);
    bool ok = scratch != NULL;
    for (size_t s = 0; ok && s < sizeof spread / sizeof *spread; s++) {
        char policy[LABEL], cells[TABLE_MOST_COLUMNS][32];
        write_label(matrix->report, curves, policy);
        for (size_t i = 0; i < matrix->sizes->count; i++) {
            uint32_t at = find_size(curves, matrix->sizes->size[i]);
            write_hits(cells[i], percentile(curves, at, spread[s].share, scratch), 1, "", false);
        }
        ok = add_row(matrix, policy, spread[s].name, "", cells, why);
    }
    free(scratch);
    return ok;
}

static bool fill_matrix(struct matrix *matrix, struct error *why)
{
    bool ok = true;
    for (uint32_t p = 0; ok && p < matrix->report->count; p++) {
        const struct policy_curves *curves = &matrix->report->policies[p];
        for (uint32_t group = 0; ok && group < curves->curve.groups; group++) {
            ok = add_group(matrix, curves, group, why);
        }
        ok = ok && (matrix->report->group == MISS_WHOLE ||
                    (add_curve(matrix, curves, &curves->whole, 0, "all", "", why) &&
                     add_spread(matrix, curves, why)));
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

static struct table *create_matrix(struct matrix *matrix, struct error *why)
{
    struct table_column columns[TABLE_MOST_COLUMNS];
    char titles[TABLE_MOST_COLUMNS][32];
    const struct curve_report *report = matrix->report;
    uint32_t count = 0;
    if (report->count > 1) {
        columns[count++] = (struct table_column){.title = "policy"};
    }
    if (report->group != MISS_WHOLE) {
        columns[count++] = (struct table_column){.title = "layer", .right = true};
    }
    if (report->group == MISS_HEAD) {
        columns[count++] = (struct table_column){.title = "head", .right = true};
    }
    if (count + matrix->sizes->count > TABLE_MOST_COLUMNS) {
        error_usage(why, NULL, 0, "%zu sizes are too many for a table with a column each",
                    matrix->sizes->count);
        error_expect(why, "at most %u sizes, or --json", TABLE_MOST_COLUMNS - count);
        return NULL;
    }
    for (size_t i = 0; i < matrix->sizes->count; i++) {
        snprintf(titles[i], sizeof titles[i], "%.1f%%",
                 100.0 * matrix->sizes->size[i] / report->blocks);
        columns[count++] = (struct table_column){.title = titles[i], .right = true};
    }
    return table_create(columns, count, why);
}

static void print_title(const struct curve_report *report)
{
    uint64_t accesses = report->policies[0].whole.accesses[0];
    char label[LABEL] = "hit ratio in %";
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
    struct matrix matrix = {.report = report, .sizes = most_sizes(report)};
    bool list = report->count == 1 && report->group == MISS_WHOLE;
    matrix.table = list ? table_create(list_columns, 4, why) : create_matrix(&matrix, why);
    bool ok = matrix.table != NULL &&
              (list ? fill_list(report, matrix.table, why) : fill_matrix(&matrix, why));
    if (ok) {
        print_title(report);
        table_print(matrix.table, stdout);
        printf("\n%s", knee_note);
    }
    table_destroy(matrix.table);
    return ok;
}
