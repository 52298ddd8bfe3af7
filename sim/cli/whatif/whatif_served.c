/* What is said of the requests that come. */
#include "cli/whatif/whatif_report.h"

#include "cli/whatif/whatif_text.h"

#include <math.h>
#include <string.h>

enum { TEXT = WHATIF_TEXT, LINE = WHATIF_LINE };

/* Conclusions leave out these points, except for goodput, which shows the overload itself. */
static void print_unbounded(const struct whatif *whatif, const struct whatif_findings *findings,
                            FILE *out)
{
    uint32_t from = findings->unbounded_from, to = findings->unbounded_to;
    char line[2 * LINE], name[LINE], where[LINE + TEXT] = "at every point";
    if (from > 0) {
        snprintf(where, sizeof where, "from %s on", whatif_name(whatif, from, name));
    } else if (to < whatif->count) {
        snprintf(where, sizeof where, "up to %s", whatif_name(whatif, to - 1, name));
    }
    snprintf(line, sizeof line,
             "%s more requests arrive than are answered: the queue grows without bound%s", where,
             findings->timed > 0 && whatif->figure != WHATIF_GOODPUT
                 ? "; best and knee ignore these points"
                 : "");
    table_line("", line, out);
}

/* The arrivals at each rate of a grid: "at a rate of 1, 1.10 requests/s arrive; at 4, 4.39". */
static void print_drawn_rates(const struct whatif *whatif, uint32_t axis, FILE *out)
{
    char line[2 * LINE] = "", label[TEXT], figure[ANSWER_SIZE];
    size_t used = 0;
    for (uint32_t i = 0, next = 0; i < whatif->count && used < sizeof line; i++) {
        const struct cell *come = &whatif->results[i].cells[COLUMN_RATE_IN];
        if (come->set && whatif_value(whatif, axis, i) == next) {
            axis_label(&whatif->axes[axis], next++, label, sizeof label);
            used += (size_t)snprintf(
                line + used, sizeof line - used, "%s%s, %s%s", used > 0 ? "; at " : "at a rate of ",
                label, whatif_number(come->real, figure), used > 0 ? "" : " requests/s arrive");
        }
    }
    table_line("", line, out);
}

/* The rate of arrivals, if the table has no column for it: arrivals are drawn, so it differs from
 * the requested rate. */
static void print_arrivals(const struct whatif *whatif, FILE *out)
{
    double rate = whatif_arrivals(whatif);
    char line[LINE], figure[ANSWER_SIZE];
    if (!isnan(rate)) {
        snprintf(line, sizeof line, "at every point %s requests/s arrive",
                 whatif_number(rate, figure));
        table_line("", line, out);
        return;
    }
    for (uint32_t axis = 0; whatif->axis_count > 1 && axis < whatif->axis_count; axis++) {
        if (strcmp(whatif->axes[axis].key, "rate") == 0) {
            print_drawn_rates(whatif, axis, out);
        }
    }
}

void whatif_served_load(const struct whatif *whatif, const struct whatif_findings *findings,
                        FILE *out)
{
    if (findings->unbounded_from < findings->unbounded_to) {
        print_unbounded(whatif, findings, out);
    }
    print_arrivals(whatif, out);
}
