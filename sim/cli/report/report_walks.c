/* A line a system: its knee and its most; of a server, how waits grow along it. */
#include "cli/report/report_walks.h"

#include "cli/frame/html.h"

#include <stdlib.h>

/* Lines that are said; a picture shows more. */
enum { MOST_WALKS = 8 };

static double number(const struct report_table *walks, size_t row, const char *column)
{
    return strtod(report_table_text(walks, row, column), NULL);
}

static bool has(const struct report_table *walks, size_t row, const char *column)
{
    return *report_table_text(walks, row, column) != '\0';
}

static void say_waits(const struct report_table *walks, size_t row, FILE *out)
{
    if (has(walks, row, "e2e_from") && has(walks, row, "ttft_from")) {
        fprintf(out,
                " The median request has its last token after %.0f ms at the first value and "
                "%.0f ms at the last; the slowest hundredth waits %.0f and %.0f ms for its first "
                "token.",
                number(walks, row, "e2e_from"), number(walks, row, "e2e_to"),
                number(walks, row, "ttft_from"), number(walks, row, "ttft_to"));
    }
    if (has(walks, row, "unbounded_at")) {
        html_print(out,
                   " From %s %s on more requests come than are answered: the queue grows without "
                   "bound.",
                   report_table_text(walks, row, "axis"),
                   report_table_text(walks, row, "unbounded_at"));
    } else if (has(walks, row, "unbounded_until")) {
        html_print(out,
                   " Up to %s %s more requests come than are answered: the queue grows without "
                   "bound.",
                   report_table_text(walks, row, "axis"),
                   report_table_text(walks, row, "unbounded_until"));
    }
}

static void say_walk(const struct report_table *walks, size_t row, FILE *out)
{
    const char *unit = report_table_text(walks, row, "unit");
    html_print(out, "<p class=\"answer\"><strong>%s</strong> over %s, from %s to %s: ",
               report_table_text(walks, row, "series"), report_table_text(walks, row, "axis"),
               report_table_text(walks, row, "from"), report_table_text(walks, row, "to"));
    if (!has(walks, row, "best")) {
        fputs("no point answers all that come.", out);
    } else if (number(walks, row, "flat") > 0) {
        fprintf(out, "<strong>%.4g</strong> ", number(walks, row, "best"));
        html_print(out, "%s at every value.", unit);
    } else {
        fprintf(out, "best <strong>%.4g</strong> ", number(walks, row, "best"));
        html_print(out, "%s at %s", unit, report_table_text(walks, row, "best_at"));
    }
    bool bends = has(walks, row, "best") && number(walks, row, "flat") <= 0;
    if (bends && has(walks, row, "knee")) {
        fprintf(out, "; knee %.4g ", number(walks, row, "knee"));
        html_print(out, "%s at %s, past which more earns less than it did.", unit,
                   report_table_text(walks, row, "knee_at"));
    } else if (bends) {
        fputs(".", out);
    }
    say_waits(walks, row, out);
    fputs("</p>\n", out);
}

void report_say_walks(const struct report_table *walks, FILE *out)
{
    for (size_t row = 0; row < walks->count && row < MOST_WALKS; row++) {
        say_walk(walks, row, out);
    }
    if (walks->count > MOST_WALKS) {
        fprintf(out, "<p class=\"shortened\">%zu more are in the tables.</p>\n",
                walks->count - MOST_WALKS);
    }
}

void report_say_best(const struct report_table *walks, FILE *out)
{
    size_t best = walks->count;
    for (size_t row = 0; row < walks->count; row++) {
        bool better =
            best == walks->count || number(walks, row, "merit") > number(walks, best, "merit");
        best = has(walks, row, "best") && better ? row : best;
    }
    if (best == walks->count) {
        return;
    }
    bool flat = number(walks, best, "flat") > 0;
    html_print(
        out, "<p class=\"answer\">Of these lines <strong>%s</strong> does best, with %s %s: ",
        report_table_text(walks, best, "series"),
        flat ? "any" : report_table_text(walks, best, "axis"),
        flat ? report_table_text(walks, best, "axis") : report_table_text(walks, best, "best_at"));
    fprintf(out, "<strong>%.4g</strong> ", number(walks, best, "best"));
    html_print(out, "%s.</p>\n", report_table_text(walks, best, "unit"));
}
