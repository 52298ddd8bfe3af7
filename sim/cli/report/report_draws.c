/* The rows of plots/report/draws.sql are draws; those of a run stand together. */
#include "cli/report/report.h"

#include "cli/frame/drawing.h"
#include "study/sweep/replication.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_LISTED = 100 };

static const char *const of_runs[] = {"every", "runs", "report/choices", NULL};

/* The draws of one run: rows [first, first + count) of a table. */
struct report_draws_group {
    const struct report_table *draws;
    size_t first;
    uint32_t count;
    struct interval interval; /* if it has two draws or more */
};

static const char *report_draws_text_of(const struct report_draws_group *group, const char *column)
{
    return report_table_text(group->draws, group->first, column);
}

static void list(const struct report_draws_group *group, FILE *out)
{
    const struct interval *interval = &group->interval;
    html_print(out, "<tr><td>%s</td><td>%s</td>", report_draws_text_of(group, "choice"),
               report_draws_text_of(group, "setting"));
    fprintf(out, "<td class=\"number\">%u</td>", group->count);
    html_print(out, "<td>%s</td>", report_draws_text_of(group, "unit"));
    const double figures[] = {interval->mean, interval->half, interval->p5, interval->median,
                              interval->p95};
    for (size_t i = 0; i < sizeof figures / sizeof figures[0]; i++) {
        fprintf(out, "<td class=\"number\">%.4g</td>", figures[i]);
    }
    fputs("</tr>\n", out);
}

/* How many of the rows from `first` on are draws of the same run. */
static uint32_t count_draws(const struct report_table *draws, size_t first)
{
    const char *name = report_table_text(draws, first, "draws");
    size_t end = first;
    while (end < draws->count && strcmp(report_table_text(draws, end, "draws"), name) == 0) {
        end++;
    }
    return (uint32_t)(end - first);
}

static bool report_draws_measure(struct report_draws_group *group, struct error *why)
{
    double *values = calloc(group->count, sizeof *values);
    if (values == NULL) {
        return error_set(why, NULL, 0, "out of memory: no room for draws");
    }
    for (uint32_t i = 0; i < group->count; i++) {
        values[i] = strtod(report_table_text(group->draws, group->first + i, "value"), NULL);
    }
    bool ok = interval_of(values, 1, group->count, &group->interval, why);
    free(values);
    return ok;
}

/* Write the runs that have two draws or more. */
static bool write_groups(const struct report_table *draws, FILE *out, struct error *why)
{
    uint32_t written = 0, left = 0;
    for (size_t row = 0; row < draws->count;) {
        struct report_draws_group group = {
            .draws = draws, .first = row, .count = count_draws(draws, row)};
        row += group.count;
        if (group.count < 2) {
            continue;
        }
        if (written == MOST_LISTED) {
            left++;
            continue;
        }
        if (!report_draws_measure(&group, why)) {
            return false;
        }
        list(&group, out);
        written++;
    }
    if (left > 0) {
        fprintf(out, "<tr><td>and %u more</td></tr>\n", left);
    }
    return true;
}

bool report_write_draws(const struct report *report, struct error *why)
{
    struct report_table draws;
    if (!report_table_read(report->store, of_runs, "draws", false, &draws, why)) {
        return false;
    }
    bool ok = true;
    if (draws.count > 0) {
        fputs("<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"How far answers "
              "spread over replications\">\n<table><caption>How far answers spread over "
              "replications; ± is the 95 % interval of the mean</caption>\n<thead><tr>"
              "<th scope=\"col\">run of</th><th scope=\"col\">setting</th><th scope=\"col\">draws"
              "</th><th scope=\"col\">of</th><th scope=\"col\">mean</th><th scope=\"col\">±</th>"
              "<th scope=\"col\">5 %</th><th scope=\"col\">median</th><th scope=\"col\">95 %</th>"
              "</tr></thead>\n<tbody>\n",
              report->out);
        ok = write_groups(&draws, report->out, why);
        fputs("</tbody></table></div>\n", report->out);
    }
    report_table_release(&draws);
    return ok;
}
