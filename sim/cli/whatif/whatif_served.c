#include "cli/whatif/whatif_report.h"

#include "cli/frame/figures.h"
#include "cli/runs/runs_served.h"
#include "cli/whatif/whatif_text.h"

#include <math.h>
#include <string.h>

enum { TEXT = WHATIF_TEXT, LINE = WHATIF_LINE };

/* ---- along an axis ---- */

enum {
    SERVED_VALUE,
    SERVED_FIRST,
    SERVED_TIME = SERVED_FIRST + SERVED_FIGURES,
    SERVED_MARKS,
    SERVED_COLUMNS
};

static bool add_served(const struct whatif *whatif, const struct whatif_findings *findings,
                       uint32_t point, struct table *table, struct error *why)
{
    const struct result *result = &whatif->results[point];
    const char *texts[SERVED_COLUMNS] = {NULL};
    char value[TEXT], marks[TEXT], time[FIGURE], room[SERVED_FIGURES][SERVED_TEXT];
    texts[SERVED_VALUE] = axis_label(&whatif->axes[0], point, value, sizeof value);
    if (!result_ok(result)) {
        return whatif_add_untimed(table, texts, SERVED_FIRST, result, why);
    }
    served_figures(result, texts + SERVED_FIRST, room);
    if (whatif->figure == WHATIF_TIME) {
        texts[SERVED_TIME] = figure_seconds(result->cells[COLUMN_E2E].integer, time);
    }
    if (!isnan(whatif_arrivals(whatif))) {
        texts[SERVED_FIRST + SERVED_COME] = NULL;
    }
    texts[SERVED_MARKS] = whatif_mark(whatif, findings, point, marks);
    return table_add(table, texts, SERVED_COLUMNS, why);
}

bool whatif_served_table(const struct whatif *whatif, const struct whatif_findings *findings,
                         const struct table_view *view, FILE *out, struct error *why)
{
    struct table_column columns[SERVED_COLUMNS] = {
        [SERVED_VALUE] = {.title = axis_title(&whatif->axes[0]), .right = true},
        [SERVED_TIME] = {.title = "e2e s", .right = true, .optional = true, .name = "e2e"},
        [SERVED_MARKS] = {.title = "", .name = "marks"},
    };
    memcpy(columns + SERVED_FIRST, served_columns, sizeof served_columns);
    columns[SERVED_FIRST + SERVED_COME].drop = 0; /* an axis of rates states the requested rate, not
                                                   * the drawn one */
    columns[SERVED_FIRST + SERVED_RATE].drop = whatif->figure == WHATIF_GOODPUT;
    struct table *table = table_create(columns, SERVED_COLUMNS, why);
    bool good = table != NULL;
    if (good) {
        table_choose(table, view);
    }
    for (uint32_t i = 0; good && i < whatif->count; i++) {
        good = add_served(whatif, findings, i, table, why);
    }
    if (good) {
        table_print(table, out);
    }
    table_destroy(table);
    return good;
}

/* ---- what comes ---- */

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
    char line[2 * LINE] = "", label[TEXT], figure[FIGURE];
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
    char line[LINE], figure[FIGURE];
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
