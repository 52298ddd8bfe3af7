#include "cli/whatif_report.h"

#include "base/units.h"
#include "cli/figures.h"
#include "cli/runs_notes.h"
#include "cli/runs_served.h"
#include "cli/table.h"
#include "cli/whatif_stores.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TEXT = 64, LINE = 512 };

/* ---- texts ---- */

/* The name of a point: its value on each axis, "15.0 %, batch 4". */
static const char *name_point(const struct whatif *whatif, uint32_t point, char text[LINE])
{
    size_t used = 0;
    for (uint32_t axis = 0; axis < whatif->axis_count && used < LINE; axis++) {
        char label[TEXT];
        axis_label(&whatif->axes[axis], whatif_value(whatif, axis, point), label, sizeof label);
        used += (size_t)snprintf(text + used, LINE - used, "%s%s%s%s", used > 0 ? ", " : "",
                                 whatif->axis_count > 1 ? axis_title(&whatif->axes[axis]) : "",
                                 whatif->axis_count > 1 ? " " : "", label);
    }
    return text;
}

static const char *format_bytes(const struct cell *bytes, char text[TEXT])
{
    return bytes->set && bytes->integer > 0
               ? units_format((double)bytes->integer, UNIT_BYTES, text, TEXT)
               : NULL;
}

/* What a study wants more of, in words. */
static const struct {
    const char *unit; /* behind a figure */
    const char *grid; /* above a grid of figures */
    const char *none; /* no point has it */
    const char *flat; /* all have the same */
} figures[] = {
    [WHATIF_RATE] = {"tokens/s", "tokens a second, all sequences", "nothing fits in memory",
                     "nothing of this changes how fast it decodes"},
    [WHATIF_BORNE] = {"tokens/s", "tokens a second, all requests",
                      "no point answers all that come",
                      "nothing of this changes how many tokens a second are served"},
    [WHATIF_TIME] = {"s a request (mean, arrival to last token)",
                     "seconds a request (mean, arrival to last token)",
                     "no point answers all that come",
                     "nothing of this changes how long requests take"},
    [WHATIF_GOODPUT] = {"requests/s that meet the objectives",
                        "requests a second that meet the objectives", "no request has a time",
                        "nothing of this changes how many requests meet the objectives"},
    [WHATIF_FOUND] = {"% of the prompts' tokens found", "prompt tokens found, %",
                      "no prompt is looked up", "nothing of this changes how much is found"},
};

static const char *format_worth(double worth, char text[FIGURE])
{
    struct cell cell = {.set = true, .real = worth};
    if (worth < 0.1) {
        snprintf(text, FIGURE, "%.2g", worth);
        return text;
    }
    return figure_rate(&cell, text);
}

static bool went_well(const struct result *result)
{
    return strcmp(result->cells[COLUMN_STATUS].text, "ok") == 0;
}

/* Are these runs of a server, which have requests and no step? */
static bool serves(const struct whatif *whatif)
{
    bool served = false;
    for (uint32_t i = 0; i < whatif->count; i++) {
        served = served || whatif->results[i].cells[COLUMN_REQUESTS].set;
    }
    return served;
}

/* ---- along an axis ---- */

enum { VALUE, BATCH, CACHE, HIT, MASS, STEP, RATE, STALLED, LINK, MARKS, COLUMNS };

/* What a person looks for among the points. */
static const char *mark_point(const struct whatif *whatif, const struct whatif_findings *findings,
                              uint32_t point, char text[TEXT])
{
    const char *objection = whatif_objection(whatif, point);
    const struct {
        bool here;
        const char *mark;
    } marks[] = {
        {findings->own == point, "here"},
        {findings->more == point, "here and a GiB more"},
        {findings->knee == point, "knee"},
        {findings->best == point && !findings->flat, "best"},
        {objection != NULL, objection},
    };
    text[0] = '\0';
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        if (marks[i].here) {
            size_t used = strlen(text);
            snprintf(text + used, TEXT - used, "%s%s", used > 0 ? ", " : "", marks[i].mark);
        }
    }
    return text;
}

/* In place of the figures from column `at` on. */
static bool add_untimed(struct table *table, const char **texts, uint32_t at,
                        const struct result *result, struct error *why)
{
    char reason[sizeof result->message + TEXT];
    snprintf(reason, sizeof reason, "%s: %s", result->cells[COLUMN_STATUS].text, result->message);
    texts[at] = reason;
    return table_add(table, texts, at + 1, why);
}

/* Is the batch another along the axis, and not the axis? */
static bool batch_varies(const struct whatif *whatif)
{
    const struct cell *first = &whatif->results[0].cells[COLUMN_BATCH];
    bool varies = false;
    for (uint32_t i = 0; i < whatif->count; i++) {
        const struct cell *batch = &whatif->results[i].cells[COLUMN_BATCH];
        varies = varies || (batch->set && first->set && batch->integer != first->integer);
    }
    return varies && strcmp(whatif->axes[0].key, "batch") != 0;
}

static bool add_point(const struct whatif *whatif, const struct whatif_findings *findings,
                      uint32_t point, struct table *table, struct error *why)
{
    const struct result *result = &whatif->results[point];
    const struct cell *cells = result->cells;
    const char *texts[COLUMNS] = {NULL};
    char value[TEXT], batch[TEXT], cache[TEXT], hit[FIGURE], mass[FIGURE], step[FIGURE];
    char rate[FIGURE], stalled[FIGURE], link[FIGURE], marks[TEXT];
    texts[VALUE] = axis_label(&whatif->axes[0], point, value, sizeof value);
    if (cells[COLUMN_BATCH].set && batch_varies(whatif)) {
        snprintf(batch, sizeof batch, "%" PRId64, cells[COLUMN_BATCH].integer);
        texts[BATCH] = batch;
    }
    if (!went_well(result)) {
        return add_untimed(table, texts, CACHE, result, why);
    }
    snprintf(link, sizeof link, "%.1f %%", 100 * whatif_link_stall(result));
    texts[CACHE] = format_bytes(&cells[COLUMN_CACHE_BYTES], cache);
    texts[HIT] = figure_percent(&cells[COLUMN_HIT_RATIO], hit);
    texts[MASS] = figure_percent(&cells[COLUMN_MASS_RECALL], mass);
    texts[STEP] = figure_ms(cells[COLUMN_STEP].integer, step);
    texts[RATE] = figure_rate(&cells[COLUMN_DECODE_RATE], rate);
    texts[STALLED] = figure_stalled(result, stalled);
    texts[LINK] = link;
    texts[MARKS] = mark_point(whatif, findings, point, marks);
    return table_add(table, texts, COLUMNS, why);
}

static bool print_axis(const struct whatif *whatif, const struct whatif_findings *findings,
                       FILE *out, struct error *why)
{
    const struct table_column columns[COLUMNS] = {
        [VALUE] = {.title = axis_title(&whatif->axes[0]), .right = true},
        [BATCH] = {.title = "batch", .right = true, .optional = true},
        [CACHE] = {.title = "cache", .right = true},
        [HIT] = {.title = "hit %", .right = true, .optional = true},
        [MASS] = {.title = "mass %", .right = true, .optional = true},
        [STEP] = {.title = "step ms", .right = true},
        [RATE] = {.title = "tok/s", .right = true},
        [STALLED] = {.title = "stall", .right = true},
        [LINK] = {.title = "by link", .right = true},
        [MARKS] = {.title = ""},
    };
    struct table *table = table_create(columns, COLUMNS, why);
    bool good = table != NULL;
    for (uint32_t i = 0; good && i < whatif->count; i++) {
        good = add_point(whatif, findings, i, table, why);
    }
    if (good) {
        table_print(table, out);
    }
    table_destroy(table);
    return good;
}

/* ---- a server along an axis ---- */

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
    if (!went_well(result)) {
        return add_untimed(table, texts, SERVED_FIRST, result, why);
    }
    served_figures(result, texts + SERVED_FIRST, room);
    if (whatif->figure == WHATIF_TIME) {
        texts[SERVED_TIME] = figure_seconds(result->cells[COLUMN_E2E].integer, time);
    }
    if (!isnan(whatif_arrivals(whatif))) {
        texts[SERVED_FIRST + SERVED_COME] = NULL;
    }
    texts[SERVED_MARKS] = mark_point(whatif, findings, point, marks);
    return table_add(table, texts, SERVED_COLUMNS, why);
}

static bool print_served(const struct whatif *whatif, const struct whatif_findings *findings,
                         FILE *out, struct error *why)
{
    struct table_column columns[SERVED_COLUMNS] = {
        [SERVED_VALUE] = {.title = axis_title(&whatif->axes[0]), .right = true},
        [SERVED_TIME] = {.title = "e2e s", .right = true, .optional = true},
        [SERVED_MARKS] = {.title = ""},
    };
    memcpy(columns + SERVED_FIRST, served_columns, sizeof served_columns);
    columns[SERVED_FIRST + SERVED_COME].drop = 0; /* an axis says what is asked for, not drawn */
    columns[SERVED_FIRST + SERVED_RATE].drop = whatif->figure == WHATIF_GOODPUT;
    struct table *table = table_create(columns, SERVED_COLUMNS, why);
    bool good = table != NULL;
    for (uint32_t i = 0; good && i < whatif->count; i++) {
        good = add_served(whatif, findings, i, table, why);
    }
    if (good) {
        table_print(table, out);
    }
    table_destroy(table);
    return good;
}

/* ---- a grid ---- */

static bool any_objection(const struct whatif *whatif)
{
    bool any = false;
    for (uint32_t i = 0; i < whatif->count; i++) {
        any = any || whatif_objection(whatif, i) != NULL;
    }
    return any;
}

static const char *describe_cell(const struct whatif *whatif,
                                 const struct whatif_findings *findings, uint32_t point,
                                 char text[TEXT])
{
    const struct result *result = &whatif->results[point];
    double worth = whatif_worth(whatif, point);
    char figure[FIGURE];
    if (!went_well(result)) {
        bool memory = strcmp(result->cells[COLUMN_STATUS].text, "out-of-memory") == 0;
        return memory ? "oom" : "failed";
    }
    if (whatif_objection(whatif, point) != NULL) {
        return "over";
    }
    snprintf(text, TEXT, "%s%s",
             findings->best == point && !findings->flat ? "*"
             : findings->own == point                   ? ">"
                                                        : "",
             isnan(worth) ? "-" : format_worth(worth, figure));
    return text;
}

static bool add_line(const struct whatif *whatif, const struct whatif_findings *findings,
                     uint32_t line, struct table *table, struct error *why)
{
    char texts[TABLE_MOST_COLUMNS][TEXT];
    const char *cells[TABLE_MOST_COLUMNS] = {axis_label(&whatif->axes[0], line, texts[0], TEXT)};
    uint32_t across = whatif->axes[1].count;
    for (uint32_t i = 0; i < across; i++) {
        cells[1 + i] = describe_cell(whatif, findings, line * across + i, texts[1 + i]);
    }
    return table_add(table, cells, 1 + across, why);
}

static bool print_grid(const struct whatif *whatif, const struct whatif_findings *findings,
                       FILE *out, struct error *why)
{
    const struct axis *across = &whatif->axes[1];
    char titles[TABLE_MOST_COLUMNS][TEXT];
    struct table_column columns[TABLE_MOST_COLUMNS] = {
        {.title = axis_title(&whatif->axes[0]), .right = true}};
    if (across->count >= TABLE_MOST_COLUMNS) {
        error_set(why, NULL, 0, "'%s' has %u values, too many for the columns of a table",
                  across->key, across->count);
        return error_expect(why, "at most %d, or --json", TABLE_MOST_COLUMNS - 1);
    }
    for (uint32_t i = 0; i < across->count; i++) {
        char label[TEXT / 2];
        axis_label(across, i, label, sizeof label);
        snprintf(titles[i], TEXT, "%s%s%s", i == 0 ? axis_title(across) : "", i == 0 ? " " : "",
                 label);
        columns[1 + i] = (struct table_column){.title = titles[i], .right = true};
    }
    struct table *table = table_create(columns, 1 + across->count, why);
    bool good = table != NULL;
    for (uint32_t i = 0; good && i * across->count < whatif->count; i++) {
        good = add_line(whatif, findings, i, table, why);
    }
    if (good) {
        fprintf(out, "%s; * best, > as the scenario says, oom out of memory\n%s",
                figures[whatif->figure].grid,
                any_objection(whatif) ? "over: more requests come than are answered\n" : "");
        table_print(table, out);
    }
    table_destroy(table);
    return good;
}

/* ---- what follows ---- */

/* Of what a budget along an axis comes to: " (19.2 GiB)". */
static const char *name_cache(const struct whatif *whatif, uint32_t point, char text[LINE])
{
    char cache[TEXT];
    const char *bytes = format_bytes(&whatif->results[point].cells[COLUMN_CACHE_BYTES], cache);
    text[0] = '\0';
    for (uint32_t axis = 0; axis < whatif->axis_count && bytes != NULL; axis++) {
        if (strcmp(whatif->axes[axis].key, "mechanisms.budget") == 0) {
            snprintf(text, LINE, " (%s)", bytes);
        }
    }
    return text;
}

static void print_best(const struct whatif *whatif, const struct whatif_findings *findings,
                       FILE *out)
{
    char line[3 * LINE], name[LINE], rate[FIGURE], here[LINE] = "", cache[LINE];
    double best = whatif_worth(whatif, findings->best);
    double own = findings->own != WHATIF_NONE ? whatif_worth(whatif, findings->own) : NAN;
    if (!isnan(own) && findings->own != findings->best) {
        char own_name[LINE], own_rate[FIGURE];
        snprintf(here, sizeof here, "; here, at %.200s, %s",
                 name_point(whatif, findings->own, own_name), format_worth(own, own_rate));
    }
    snprintf(line, sizeof line, "best: %s %s at %s%s%s", format_worth(best, rate),
             figures[whatif->figure].unit, name_point(whatif, findings->best, name),
             name_cache(whatif, findings->best, cache),
             findings->own == findings->best ? ", as it is" : here);
    table_line("", line, out);
}

static void print_knee(const struct whatif *whatif, const struct whatif_findings *findings,
                       FILE *out)
{
    char line[3 * LINE], name[LINE], cache[LINE], rate[FIGURE];
    snprintf(line, sizeof line,
             "knee: %s %s at %s%s, furthest %s the line from the first point to the last: past it, "
             "more earns less than it did",
             format_worth(whatif_worth(whatif, findings->knee), rate), figures[whatif->figure].unit,
             name_point(whatif, findings->knee, name), name_cache(whatif, findings->knee, cache),
             whatif->figure == WHATIF_TIME ? "below" : "above");
    table_line("", line, out);
}

static void print_more(const struct whatif *whatif, const struct whatif_findings *findings,
                       FILE *out)
{
    const struct result *own = &whatif->results[findings->own];
    double before = whatif_worth(whatif, findings->own);
    double gained = whatif_worth(whatif, findings->more) - before;
    char line[2 * LINE], cache[TEXT];
    snprintf(line, sizeof line, "one more GiB, over the %s here, is worth %+.3g %s (%+.1f %%)",
             format_bytes(&own->cells[COLUMN_CACHE_BYTES], cache), gained,
             figures[whatif->figure].unit, 100 * gained / before);
    table_line("", line, out);
}

static void print_link(const struct whatif *whatif, const struct whatif_findings *findings,
                       FILE *out)
{
    uint32_t from = findings->link_free_from, to = findings->link_free_to;
    char line[2 * LINE], name[LINE];
    if (from == to) {
        table_line("", "the link stalls 1 % of the step or more at every point", out);
    } else if (from == 0 && to == whatif->count) {
        table_line("", "the link stalls less than 1 % of the step at every point", out);
    } else if (to == whatif->count) {
        snprintf(line, sizeof line, "from %s on the link stalls less than 1 %% of the step",
                 name_point(whatif, from, name));
        table_line("", line, out);
    } else {
        snprintf(line, sizeof line, "up to %s the link stalls less than 1 %% of the step",
                 name_point(whatif, to - 1, name));
        table_line("", line, out);
    }
}

/* What such points have is left out of what is found, but for goodput, which tells by itself. */
static void print_unbounded(const struct whatif *whatif, const struct whatif_findings *findings,
                            FILE *out)
{
    uint32_t from = findings->unbounded_from, to = findings->unbounded_to;
    char line[2 * LINE], name[LINE], where[LINE + TEXT] = "at every point";
    if (from > 0) {
        snprintf(where, sizeof where, "from %s on", name_point(whatif, from, name));
    } else if (to < whatif->count) {
        snprintf(where, sizeof where, "up to %s", name_point(whatif, to - 1, name));
    }
    snprintf(line, sizeof line,
             "%s more requests come than are answered: the queue grows without bound%s", where,
             findings->timed > 0 && whatif->figure != WHATIF_GOODPUT
                 ? "; best and knee leave these points out"
                 : "");
    table_line("", line, out);
}

/* Of each rate that a grid asks for: "of a rate of 1 come 1.10 requests/s, of 4 4.39". */
static void print_drawn_rates(const struct whatif *whatif, uint32_t axis, FILE *out)
{
    char line[2 * LINE] = "", label[TEXT], figure[FIGURE];
    size_t used = 0;
    for (uint32_t i = 0, next = 0; i < whatif->count && used < sizeof line; i++) {
        const struct cell *come = &whatif->results[i].cells[COLUMN_RATE_IN];
        if (come->set && whatif_value(whatif, axis, i) == next) {
            axis_label(&whatif->axes[axis], next++, label, sizeof label);
            used += (size_t)snprintf(line + used, sizeof line - used, "%s%s come %s%s",
                                     used > 0 ? ", of " : "of a rate of ", label,
                                     format_worth(come->real, figure),
                                     used > 0 ? "" : " requests/s");
        }
    }
    table_line("", line, out);
}

/* How many requests come, where a table has no column for it: arrivals are a draw of what is asked
 * for. */
static void print_arrivals(const struct whatif *whatif, FILE *out)
{
    double rate = whatif_arrivals(whatif);
    char line[LINE], figure[FIGURE];
    if (!isnan(rate)) {
        snprintf(line, sizeof line, "at every point %s requests/s come",
                 format_worth(rate, figure));
        table_line("", line, out);
        return;
    }
    for (uint32_t axis = 0; whatif->axis_count > 1 && axis < whatif->axis_count; axis++) {
        if (strcmp(whatif->axes[axis].key, "rate") == 0) {
            print_drawn_rates(whatif, axis, out);
        }
    }
}

static void print_findings(const struct whatif *whatif, const struct whatif_findings *findings,
                           FILE *out)
{
    bool served = serves(whatif);
    if (findings->timed == 0) {
        table_line("",
                   served && whatif->figure == WHATIF_RATE ? "no request has a time"
                                                           : figures[whatif->figure].none,
                   out);
        return;
    }
    if (findings->flat) {
        table_line("",
                   served && whatif->figure == WHATIF_RATE
                       ? figures[WHATIF_BORNE].flat
                       : figures[whatif->figure].flat,
                   out);
        return;
    }
    if (findings->knee != WHATIF_NONE) {
        print_knee(whatif, findings, out);
    }
    if (findings->own != WHATIF_NONE && findings->more != WHATIF_NONE &&
        !isnan(whatif_worth(whatif, findings->own)) &&
        !isnan(whatif_worth(whatif, findings->more))) {
        print_more(whatif, findings, out);
    }
    print_best(whatif, findings, out);
    if (findings->ordered && !served) {
        print_link(whatif, findings, out);
    }
}

/* An assumed hit ratio is that of any cache. */
static void print_assumed(const struct whatif *whatif, FILE *out)
{
    bool assumed = false, budgets = false;
    for (uint32_t i = 0; i < whatif->count; i++) {
        const struct cell *basis = &whatif->results[i].cells[COLUMN_TRACE_BASIS];
        assumed = assumed || (basis->set && strcmp(basis->text, "assumed") == 0);
    }
    for (uint32_t axis = 0; axis < whatif->axis_count; axis++) {
        budgets = budgets || strcmp(whatif->axes[axis].key, "mechanisms.budget") == 0;
    }
    if (assumed && budgets) {
        table_line("",
                   "the hit ratio is assumed, and so the same at every size of the cache but none: "
                   "only a trace tells what more of it is worth",
                   out);
    }
}

/* ---- all of it ---- */

/* "vllm over batch"; of an axis of systems, "over system". */
static void print_title(const struct whatif *whatif, FILE *out)
{
    const char *system = "";
    for (uint32_t i = 0; i < whatif->count && system[0] == '\0'; i++) {
        const struct cell *cell = &whatif->results[i].cells[COLUMN_SYSTEM];
        system = cell->set ? cell->text : "";
    }
    for (uint32_t axis = 0; axis < whatif->axis_count; axis++) {
        system = strcmp(whatif->axes[axis].key, "system") == 0 ? "" : system;
    }
    fprintf(out, "%s%sover %s", system, system[0] != '\0' ? " " : "", axis_title(&whatif->axes[0]));
    if (whatif->axis_count > 1) {
        fprintf(out, " and %s", axis_title(&whatif->axes[1]));
    }
    fputs("\n\n", out);
}

bool whatif_report(const struct whatif *whatif, FILE *out, struct error *why)
{
    struct whatif_findings findings = whatif_find(whatif);
    struct runs_notes *notes = runs_notes_create(why);
    bool good = notes != NULL;
    for (uint32_t i = 0; good && i < whatif->count; i++) {
        good = runs_notes_add(notes, &whatif->results[i], why);
    }
    if (good) {
        runs_notes_print_above(notes, out);
        print_title(whatif, out);
        good = (whatif->axis_count > 1 ? print_grid
                : serves(whatif)       ? print_served
                                       : print_axis)(whatif, &findings, out, why);
    }
    if (good) {
        fputc('\n', out);
        print_findings(whatif, &findings, out);
        if (findings.unbounded_from < findings.unbounded_to) {
            print_unbounded(whatif, &findings, out);
        }
        print_arrivals(whatif, out);
        print_assumed(whatif, out);
        whatif_stores_print(whatif, out);
        runs_notes_print_below(notes, out);
    }
    runs_notes_destroy(notes);
    return good;
}
