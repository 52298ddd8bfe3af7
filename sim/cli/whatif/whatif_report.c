#include "cli/whatif/whatif_report.h"

#include "base/text.h"
#include "cli/runs/runs_notes.h"
#include "cli/whatif/whatif_text.h"
#include "policy/policy.h"
#include "result/tie.h"

#include <math.h>
#include <string.h>

enum { LINE = WHATIF_LINE };

/* ---- what follows ---- */

/* The size of the cache, if an axis is the budget: " (a cache of 19.2 GiB)". */
static const char *name_cache(const struct whatif *whatif, uint32_t point, char text[LINE])
{
    char cache[ANSWER_SIZE];
    const char *bytes = figure_text(&whatif->results[point], FIGURE_CACHE, cache);
    text[0] = '\0';
    for (uint32_t axis = 0; axis < whatif->axis_count && bytes != NULL; axis++) {
        if (strcmp(whatif->axes[axis].key, "mechanisms.budget") == 0) {
            snprintf(text, LINE, " (a cache of %s)", bytes);
        }
    }
    return text;
}

/* The scenario's own point, if it is not the best: "; here, at the scenario's batch 4, 13.4". */
static void append_own(const struct whatif *whatif, const struct whatif_findings *findings,
                       char line[3 * LINE])
{
    char name[LINE], rate[ANSWER_SIZE];
    double own = findings->own != WHATIF_NONE ? whatif_worth(whatif, findings->own) : NAN;
    if (findings->own == findings->best) {
        text_append(line, 3 * LINE, ", the scenario's value");
    } else if (!isnan(own)) {
        text_append(line, 3 * LINE, "; here, at the scenario's %.200s, %s",
                    whatif_name(whatif, findings->own, name), whatif_number(own, rate));
    }
}

/* "; pcie4-x16 and pcie6-x16 tie with it (at most 2 % apart)"; of many only their number. */
static void whatif_report_append_ties(const struct whatif *whatif,
                                      const struct whatif_findings *findings, char line[3 * LINE])
{
    enum { NAMED = 3 };
    enum tie worst;
    uint32_t ties = whatif_count_ties(whatif, findings, &worst), said = 0;
    for (uint32_t i = 0; i < whatif->count && ties > 0 && ties <= NAMED; i++) {
        char name[LINE];
        if (i != findings->best && whatif_ties(whatif, findings, i)) {
            text_append(line, 3 * LINE, "%s%s",
                        said == 0          ? "; "
                        : said + 1 == ties ? " and "
                                           : ", ",
                        whatif_name(whatif, i, name));
            said++;
        }
    }
    if (ties > NAMED) {
        text_append(line, 3 * LINE, "; %u other values", ties);
    }
    if (ties > 0) {
        text_append(line, 3 * LINE, " %s with it (%s)", ties == 1 ? "ties" : "tie",
                    tie_reason(worst));
    }
}

static void print_best(const struct whatif *whatif, const struct whatif_findings *findings,
                       FILE *out)
{
    char line[3 * LINE], name[LINE], rate[ANSWER_SIZE], cache[LINE];
    double best = whatif_worth(whatif, findings->best);
    enum tie worst;
    bool all = whatif_all_tie(whatif, findings);
    whatif_count_ties(whatif, findings, &worst);
    text_copy(line, sizeof line, "best");
    if (all) {
        snprintf(line, sizeof line, "all %u values tie (%s)", whatif->count, tie_reason(worst));
    }
    text_append(line, sizeof line, ": %s %s at %s%s", whatif_number(best, rate),
                whatif_words[whatif->figure].unit, whatif_name(whatif, findings->best, name),
                name_cache(whatif, findings->best, cache));
    append_own(whatif, findings, line);
    if (!all) {
        whatif_report_append_ties(whatif, findings, line);
    }
    table_line("", line, out);
}

static void print_knee(const struct whatif *whatif, const struct whatif_findings *findings,
                       FILE *out)
{
    char line[3 * LINE], name[LINE], cache[LINE], rate[ANSWER_SIZE];
    snprintf(line, sizeof line,
             "knee: %s %s at %s%s, furthest %s the line from the first point to the last: beyond "
             "it, each increase gains less",
             whatif_number(whatif_worth(whatif, findings->knee), rate),
             whatif_words[whatif->figure].unit, whatif_name(whatif, findings->knee, name),
             name_cache(whatif, findings->knee, cache),
             whatif->figure == WHATIF_TIME ? "below" : "above");
    table_line("", line, out);
}

static void whatif_report_print_more(const struct whatif *whatif,
                                     const struct whatif_findings *findings, FILE *out)
{
    const struct result *own = &whatif->results[findings->own];
    double before = whatif_worth(whatif, findings->own);
    double gained = whatif_worth(whatif, findings->more) - before;
    char line[2 * LINE], cache[ANSWER_SIZE];
    snprintf(line, sizeof line, "one GiB more than the scenario's %s is worth %+.3g %s (%+.1f %%)",
             figure_text(own, FIGURE_CACHE, cache), gained, whatif_words[whatif->figure].unit,
             100 * gained / before);
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

/* Is the only axis the budget of a policy that has no use for a larger cache? */
static const char *sated_policy(const struct whatif *whatif)
{
    bool budget = whatif->axis_count == 1 && strcmp(whatif->axes[0].key, "mechanisms.budget") == 0;
    for (uint32_t i = 0; budget && i < whatif->count; i++) {
        const struct cell *name = &whatif->results[i].cells[COLUMN_POLICY];
        struct error unused;
        const struct policy_kind *kind =
            name->set ? policy_find(name->text, NULL, 0, &unused) : NULL;
        if (kind != NULL && kind->ignores_capacity) {
            return kind->name;
        }
    }
    return NULL;
}

static void print_flat(const struct whatif *whatif, bool served, FILE *out)
{
    bool borne = served && whatif->figure == WHATIF_RATE;
    const char *policy = sated_policy(whatif);
    char line[WHATIF_LINE];
    snprintf(line, sizeof line, "%s", whatif_words[borne ? WHATIF_BORNE : whatif->figure].flat);
    if (policy != NULL) {
        text_append(
            line, sizeof line,
            ": policy '%s' keeps one set per head, and a larger cache would not change what "
            "it keeps",
            policy);
    }
    table_line("", line, out);
}

static void whatif_report_print_findings(const struct whatif *whatif,
                                         const struct whatif_findings *findings, FILE *out)
{
    bool served = whatif_serves(whatif);
    if (findings->timed == 0) {
        table_line("",
                   served && whatif->figure == WHATIF_RATE ? "no request has a time"
                                                           : whatif_words[whatif->figure].none,
                   out);
        return;
    }
    if (whatif_words[whatif->figure].zero != NULL && !(whatif_worth(whatif, findings->best) > 0)) {
        table_line("", whatif_words[whatif->figure].zero, out);
        return;
    }
    if (findings->flat) {
        print_flat(whatif, served, out);
        return;
    }
    if (findings->knee != WHATIF_NONE) {
        print_knee(whatif, findings, out);
    }
    if (findings->own != WHATIF_NONE && findings->more != WHATIF_NONE &&
        !isnan(whatif_worth(whatif, findings->own)) &&
        !isnan(whatif_worth(whatif, findings->more))) {
        whatif_report_print_more(whatif, findings, out);
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
static void whatif_report_print_title(const struct whatif *whatif, FILE *out)
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

static bool whatif_report_print_table(const struct whatif *whatif,
                                      const struct whatif_findings *findings,
                                      const struct table_view *view, FILE *out, struct error *why)
{
    return (whatif->axis_count > 1 ? whatif_grid_table : whatif_points_table)(whatif, findings,
                                                                              view, out, why);
}

bool whatif_report(const struct whatif *whatif, const struct table_view *view, FILE *out,
                   struct error *why)
{
    struct whatif_findings findings = whatif_find(whatif);
    struct runs_notes *notes = runs_notes_create(why);
    bool good = notes != NULL;
    for (uint32_t i = 0; good && i < whatif->count; i++) {
        runs_notes_add(notes, &whatif->results[i]);
    }
    if (good) {
        runs_notes_print_above(notes, whatif->scenario.root, out);
        whatif_report_print_title(whatif, out);
        good = whatif_report_print_table(whatif, &findings, view, out, why);
    }
    if (good) {
        fputc('\n', out);
        whatif_report_print_findings(whatif, &findings, out);
        whatif_served_load(whatif, &findings, out);
        print_assumed(whatif, out);
        if (findings.flat) {
            whatif_host_print(whatif, out);
        }
        runs_notes_print_below(notes, view->why, out);
    }
    runs_notes_destroy(notes);
    return good;
}
