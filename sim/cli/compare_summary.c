/* Classes are compared by address, as rows refer to them; NULL stands for rows that predict
 * nothing. */
#include "cli/compare.h"

#include <inttypes.h>
#include <string.h>

/* ---- verdicts ---- */

/* How many rows have each verdict; comparable ones by `later`. */
struct compare_counts {
    uint32_t of[VERDICT_COUNT][2];
};

static void count_row(const struct comparison_row *row, struct compare_counts *counts)
{
    bool later = row->verdict != VERDICT_NOT_COMPARABLE && row->row->later;
    counts->of[row->verdict][later]++;
}

static void print_missed(uint32_t missed, FILE *out)
{
    const char *bold = missed > 0 ? "**" : "";
    fprintf(out, " | %s%" PRIu32 "%s", bold, missed, bold);
}

/* A line of the table of classes; none for a class without rows. */
static void compare_summary_print_class(const struct comparison *comparison, const char *class_name,
                                        const struct class_errors *errors, FILE *out)
{
    struct compare_counts counts = {{{0}}};
    const struct comparison_row *any = NULL;
    for (size_t i = 0; i < comparison->row_count; i++) {
        if (comparison->rows[i].class_name == class_name) {
            any = &comparison->rows[i];
            count_row(any, &counts);
        }
    }
    if (any == NULL) {
        return;
    }
    fprintf(out, "| %s | ", class_name != NULL ? class_name : "nothing predicted");
    if (class_name == comparison_geometry_class) {
        fputs("exactly", out);
    } else if (any->tolerance > 0) {
        fprintf(out, "%.0f %%", 100 * any->tolerance);
    }
    for (int later = 0; later < 2; later++) {
        fprintf(out, " | %" PRIu32, counts.of[VERDICT_MET][later]);
        print_missed(counts.of[VERDICT_MISSED][later], out);
    }
    fprintf(out, " | %" PRIu32 " | ", counts.of[VERDICT_NOT_COMPARABLE][0]);
    if (errors->rows > 0) {
        fprintf(out, "%.2fx", errors->median);
    }
    fputs(" |\n", out);
}

static bool print_classes(const struct comparison *comparison,
                          struct class_errors errors[ERROR_BAND_COUNT], FILE *out,
                          struct error *why)
{
    const char *const others[] = {comparison_geometry_class,  comparison_trace_class,
                                  comparison_saturated_class, comparison_pool_class,
                                  comparison_rank_class,      NULL};
    fputs("| class | wanted within | met | missed | added: met | added: missed | not comparable | "
          "median off by |\n"
          "|---|---:|---:|---:|---:|---:|---:|---:|\n",
          out);
    for (int i = 0; i < ERROR_BAND_COUNT; i++) {
        if (!class_errors_of_band(comparison, i, &errors[i], why)) {
            return false;
        }
        compare_summary_print_class(comparison, error_band_names[i], &errors[i], out);
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct class_errors own;
        if (!class_errors_of(comparison, others[i], &own, why)) {
            return false;
        }
        compare_summary_print_class(comparison, others[i], &own, out);
    }
    return true;
}

static void print_counts(const struct comparison *comparison, FILE *out)
{
    struct compare_counts counts = {{{0}}};
    for (size_t i = 0; i < comparison->row_count; i++) {
        count_row(&comparison->rows[i], &counts);
    }
    const uint32_t *met = counts.of[VERDICT_MET], *missed = counts.of[VERDICT_MISSED];
    fprintf(out,
            "\n## All together\n\n"
            "Of the first %" PRIu32 " rows, %" PRIu32 " are met and %" PRIu32 " missed. Of %" PRIu32
            " added later, %" PRIu32 " are met and %" PRIu32 " missed. %" PRIu32
            " are not comparable.\n\n",
            met[0] + missed[0], met[0], missed[0], met[1] + missed[1], met[1], missed[1],
            counts.of[VERDICT_NOT_COMPARABLE][0]);
}

/* ---- bands ---- */

/* Servers of one paper are of one source; other papers may tell of several. */
static void print_band(int place, const struct class_errors *errors, FILE *out)
{
    double ends[2];
    const char *class_name = error_band_names[place];
    if (errors->band.rows == 0) {
        fprintf(out, "| %s | 0 |  |  | none: no figure |\n", class_name);
        return;
    }
    fprintf(out, "| %s | %" PRIu64 " | %.2fx | ", class_name, errors->band.rows,
            errors->band.factor);
    if (errors->tested == 0) {
        bool one = place >= SYSTEM_CLASS_COUNT && errors->papers == 1;
        fprintf(out, " | none: %s |\n", one ? "one source" : "not tested");
        return;
    }
    fprintf(out, "%" PRIu32 " of %" PRIu32 " | ", errors->inside, errors->tested);
    if (!class_errors_band_stands(errors)) {
        fputs(class_errors_band_held(errors) ? "none: too wide |\n" : "none: it did not hold |\n",
              out);
        return;
    }
    error_band_ends(&errors->band, ends);
    fprintf(out, "%+.0f … %+.0f %% |\n", 100 * ends[0], 100 * ends[1]);
}

static void print_bands(const struct class_errors errors[ERROR_BAND_COUNT], FILE *out)
{
    fputs("\n## Error bands\n\n"
          "| class | figures of whole steps | off by at most | unseen rows inside | error band |\n"
          "|---|---:|---:|---:|---|\n",
          out);
    for (int i = 0; i < ERROR_BAND_COUNT; i++) {
        if (i < SYSTEM_CLASS_COUNT || class_errors_tell(i, &errors[i])) {
            print_band(i, &errors[i], out);
        }
    }
}

/* ---- figures read off rows ---- */

/* Neighbours with one figure share a line. Rows of one sweep share their texts, so only the first
 * is listed. */
static void print_used(const struct comparison *comparison, FILE *out)
{
    const struct comparison_row *last = NULL;
    for (size_t i = 0; i < comparison->row_count; i++) {
        const struct comparison_row *row = &comparison->rows[i];
        const char *used = row->row->used;
        bool swept = used != NULL && last != NULL && used == last->row->used;
        if (used == NULL || swept) {
            continue;
        }
        if (last != NULL && row->paper == last->paper && strcmp(used, last->row->used) == 0) {
            fprintf(out, ", *%s*", row->row->what);
        } else {
            fprintf(out, "%s- %s: %s, *%s*",
                    last == NULL ? "\n## Figures that were read off rows\n\n" : "\n", used,
                    row->paper->title, row->row->what);
        }
        last = row;
    }
    fputs(last != NULL ? "\n" : "", out);
}

bool compare_print_summary(const struct comparison *comparison,
                           struct class_errors errors[ERROR_BAND_COUNT], FILE *out,
                           struct error *why)
{
    print_counts(comparison, out);
    if (!print_classes(comparison, errors, out, why)) {
        return false;
    }
    print_bands(errors, out);
    print_used(comparison, out);
    return true;
}
