#include "cli/whatif/whatif_report.h"

#include "base/units.h"
#include "cli/frame/figures.h"
#include "cli/frame/ranges.h"
#include "cli/frame/table.h"
#include "cli/runs/runs_notes.h"
#include "cli/whatif/whatif_text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TEXT = WHATIF_TEXT, LINE = WHATIF_LINE };

/* ---- texts ---- */

static const char *format_bytes(const struct cell *bytes, char text[TEXT])
{
    return bytes->set && bytes->integer > 0
               ? units_format((double)bytes->integer, UNIT_BYTES, text, TEXT)
               : NULL;
}

/* The measure of a study, in words. */
static const struct {
    const char *unit; /* after a figure */
    const char *grid; /* above a grid of figures */
    const char *none; /* no point has it */
    const char *flat; /* all points have the same */
    const char *zero; /* and that is zero; NULL: use `flat` */
} figures[] = {
    [WHATIF_RATE] = {"tokens/s", "tokens a second, all sequences", "nothing fits in memory",
                     "no value changes how fast it decodes"},
    [WHATIF_BORNE] = {"tokens/s", "tokens a second, all requests", "no point answers all requests",
                      "no value changes how many tokens a second are served"},
    [WHATIF_TIME] = {"s a request (mean, arrival to last token)",
                     "seconds a request (mean, arrival to last token)",
                     "no point answers all requests", "no value changes how long requests take"},
    [WHATIF_GOODPUT] = {"requests/s that meet the objectives",
                        "requests a second that meet the objectives", "no request has a time",
                        "no value changes how many requests meet the objectives",
                        "no request meets the objectives at any point"},
    [WHATIF_FOUND] = {"% of the prompts' tokens found", "prompt tokens found, %",
                      "it is unknown which prompts begin alike: the workload has no hashes",
                      "no value changes how many prompt tokens are found",
                      "no prompt tokens are found at any point"},
};

/* Are these runs of a server, with requests instead of a step? */
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

/* Does the batch vary along the axis, without being the axis? */
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

static const struct range_cell ranged[] = {
    {HIT, COLUMN_HIT_RATIO, 100},
    {MASS, COLUMN_MASS_RECALL, 100},
    {STEP, COLUMN_STEP, 1e-3},
    {RATE, COLUMN_DECODE_RATE, 1},
};
enum { RANGED = sizeof ranged / sizeof ranged[0] };

static bool add_point(const struct whatif *whatif, const struct whatif_findings *findings,
                      uint32_t point, struct table *table, struct error *why)
{
    const struct result *result = &whatif->results[point];
    const struct cell *cells = result->cells;
    const char *texts[COLUMNS] = {NULL};
    char value[TEXT], batch[TEXT], cache[TEXT], hit[FIGURE], mass[FIGURE], step[FIGURE];
    char rate[FIGURE], stalled[FIGURE], link[FIGURE], marks[TEXT];
    char ranges[RANGED][RANGE_TEXT];
    texts[VALUE] = axis_label(&whatif->axes[0], point, value, sizeof value);
    if (cells[COLUMN_BATCH].set && batch_varies(whatif)) {
        snprintf(batch, sizeof batch, "%" PRId64, cells[COLUMN_BATCH].integer);
        texts[BATCH] = batch;
    }
    if (!result_ok(result)) {
        return whatif_add_untimed(table, texts, CACHE, result, why);
    }
    snprintf(link, sizeof link, "%.1f %%", 100 * whatif_link_stall(result));
    texts[CACHE] = format_bytes(&cells[COLUMN_CACHE_BYTES], cache);
    texts[HIT] = figure_percent(&cells[COLUMN_HIT_RATIO], hit);
    texts[MASS] = figure_percent(&cells[COLUMN_MASS_RECALL], mass);
    texts[STEP] = figure_ms(cells[COLUMN_STEP].integer, step);
    texts[RATE] = figure_rate(&cells[COLUMN_DECODE_RATE], rate);
    texts[STALLED] = figure_stalled(result, stalled);
    texts[LINK] = link;
    texts[MARKS] = whatif_mark(whatif, findings, point, marks);
    ranges_put(result, ranged, RANGED, texts, ranges);
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
    if (!result_ok(result)) {
        return result_out_of_memory(result) ? "oom" : "failed";
    }
    if (whatif_objection(whatif, point) != NULL) {
        return "over";
    }
    snprintf(text, TEXT, "%s%s",
             findings->best == point && !findings->flat ? "*"
             : findings->own == point                   ? ">"
                                                        : "",
             isnan(worth) ? "-" : whatif_number(worth, figure));
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
        fprintf(out,
                "%s; *: best, >: the scenario's value, oom: out of memory\n"
                "%s",
                figures[whatif->figure].grid,
                any_objection(whatif) ? "over: more requests arrive than are answered\n" : "");
        table_print(table, out);
    }
    table_destroy(table);
    return good;
}

/* ---- what follows ---- */

/* The size of the cache, if an axis is the budget: " (19.2 GiB)". */
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
        snprintf(here, sizeof here, "; here, at the scenario's %.200s, %s",
                 whatif_name(whatif, findings->own, own_name), whatif_number(own, own_rate));
    }
    snprintf(line, sizeof line, "best: %s %s at %s%s%s", whatif_number(best, rate),
             figures[whatif->figure].unit, whatif_name(whatif, findings->best, name),
             name_cache(whatif, findings->best, cache),
             findings->own == findings->best ? ", the scenario's value" : here);
    table_line("", line, out);
}

static void print_knee(const struct whatif *whatif, const struct whatif_findings *findings,
                       FILE *out)
{
    char line[3 * LINE], name[LINE], cache[LINE], rate[FIGURE];
    snprintf(line, sizeof line,
             "knee: %s %s at %s%s, furthest %s the line from the first point to the last: beyond "
             "it, each increase gains less",
             whatif_number(whatif_worth(whatif, findings->knee), rate),
             figures[whatif->figure].unit, whatif_name(whatif, findings->knee, name),
             name_cache(whatif, findings->knee, cache),
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
    snprintf(line, sizeof line, "one GiB more than the scenario's %s is worth %+.3g %s (%+.1f %%)",
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
                 whatif_name(whatif, from, name));
        table_line("", line, out);
    } else {
        snprintf(line, sizeof line, "up to %s the link stalls less than 1 %% of the step",
                 whatif_name(whatif, to - 1, name));
        table_line("", line, out);
    }
}

/* How much KV stays in HBM at a point, of a system that offloads under pressure only. */
enum stays { STAYS_UNKNOWN, STAYS_ALL, STAYS_PART, STAYS_NONE };

static enum stays stays_at(const struct whatif *whatif, uint32_t point)
{
    const struct cell *share = &whatif->results[point].cells[COLUMN_RESIDENT_SHARE];
    return !share->set              ? STAYS_UNKNOWN
           : share->real > 1 - 1e-9 ? STAYS_ALL /* of a server a mean, which is rounded */
           : share->real > 0        ? STAYS_PART
                                    : STAYS_NONE;
}

/* "KV in HBM: all of it up to 61073 tok, a part from 84861 tok on". */
static void print_residency(const struct whatif *whatif, FILE *out)
{
    static const char *const words[] = {
        [STAYS_ALL] = "all of it", [STAYS_PART] = "a part", [STAYS_NONE] = "none"};
    char line[4 * LINE] = "KV in HBM:", first[LINE], last[LINE];
    size_t used = strlen(line), start = used;
    for (uint32_t from = 0, to; from < whatif->count; from = to) {
        enum stays stays = stays_at(whatif, from);
        for (to = from + 1; to < whatif->count && stays_at(whatif, to) == stays; to++) {
        }
        bool begins = from == 0, ends = to == whatif->count;
        if (stays == STAYS_UNKNOWN || used + 2 * LINE > sizeof line) {
            continue;
        }
        whatif_name(whatif, from, first);
        whatif_name(whatif, to - 1, last);
        used += (size_t)snprintf(line + used, sizeof line - used, "%s %s", used > start ? "," : "",
                                 words[stays]);
        used +=
            (size_t)(begins && ends ? snprintf(line + used, sizeof line - used, " at every point")
                     : begins       ? snprintf(line + used, sizeof line - used, " up to %s", last)
                     : ends ? snprintf(line + used, sizeof line - used, " from %s on", first)
                     : to - from == 1 ? snprintf(line + used, sizeof line - used, " at %s", first)
                                      : snprintf(line + used, sizeof line - used, " from %s to %s",
                                                 first, last));
    }
    if (used > start) {
        table_line("", line, out);
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
    if (figures[whatif->figure].zero != NULL && !(whatif_worth(whatif, findings->best) > 0)) {
        table_line("", figures[whatif->figure].zero, out);
        return;
    }
    if (findings->flat) {
        table_line("",
                   served && whatif->figure == WHATIF_RATE ? figures[WHATIF_BORNE].flat
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
    if (findings->ordered) {
        print_residency(whatif, out);
    }
}

/* An assumed hit ratio does not depend on the size of the cache. */
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
                   "the hit ratio is assumed, so it is the same for every cache size above 0: "
                   "only a trace shows what a larger cache is worth",
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
                : serves(whatif)       ? whatif_served_table
                                       : print_axis)(whatif, &findings, out, why);
    }
    if (good) {
        fputc('\n', out);
        print_findings(whatif, &findings, out);
        whatif_served_load(whatif, &findings, out);
        print_assumed(whatif, out);
        if (findings.flat) {
            whatif_host_print(whatif, out);
        }
        whatif_stores_print(whatif, out);
        runs_notes_print_below(notes, out);
    }
    runs_notes_destroy(notes);
    return good;
}
