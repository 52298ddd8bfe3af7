/* Below the table stands what its rows cannot say: how much better the best is than the scenario's
 * own, what a GiB more is worth, and what is in the way where no point is best. */
#include "cli/whatif/whatif_report.h"

#include "core/text.h"
#include "cli/runs/runs_notes.h"
#include "predict/result/tie.h"

#include <math.h>
#include <string.h>

enum { LINE = WHATIF_LINE };

/* ---- what follows ---- */

/* The size of the cache, if an axis is the budget: " (a cache of 19.2 GiB)". */
static const char *name_cache(const struct whatif *whatif, uint32_t point, char text[LINE])
{
    char cache[SHOWN_TEXT];
    const char *bytes = result_shown(&whatif->results[point], COLUMN(cache_bytes), cache);
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
    char name[LINE], rate[SHOWN_TEXT];
    double own = findings->own != WHATIF_NONE ? whatif_worth(whatif, findings->own) : NAN;
    if (findings->own == findings->best) {
        text_append(line, 3 * LINE, ", the scenario's value");
    } else if (!isnan(own)) {
        text_append(line, 3 * LINE, "; here, at the scenario's %.200s, %s",
                    whatif_name(whatif, findings->own, name), whatif_number(own, rate));
    }
}

static void print_best(const struct whatif *whatif, const struct whatif_findings *findings,
                       FILE *out)
{
    char line[3 * LINE], name[LINE], rate[SHOWN_TEXT], cache[LINE];
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
    if (!all && worst != TIE_NONE) {
        text_append(line, sizeof line, "; tie: %s", tie_reason(worst));
    }
    table_line("", line, out);
}

static void whatif_report_print_more(const struct whatif *whatif,
                                     const struct whatif_findings *findings, FILE *out)
{
    const struct result *own = &whatif->results[findings->own];
    double before = whatif_worth(whatif, findings->own);
    double gained = whatif_worth(whatif, findings->more) - before;
    char line[2 * LINE], cache[SHOWN_TEXT];
    snprintf(line, sizeof line, "one GiB more than the scenario's %s is worth %+.3g %s (%+.1f %%)",
             result_shown(own, COLUMN(cache_bytes), cache), gained,
             whatif_words[whatif->figure].unit, 100 * gained / before);
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
        bool borne = served && whatif->figure == WHATIF_RATE;
        table_line("", whatif_words[borne ? WHATIF_BORNE : whatif->figure].flat, out);
        return;
    }
    if (findings->own != WHATIF_NONE && findings->more != WHATIF_NONE &&
        !isnan(whatif_worth(whatif, findings->own)) &&
        !isnan(whatif_worth(whatif, findings->more))) {
        whatif_report_print_more(whatif, findings, out);
    }
    print_best(whatif, findings, out);
    whatif_report_drafts(whatif, out);
}

/* ---- all of it ---- */

/* "vllm over batch"; of an axis of systems, "over system". */
static void whatif_report_print_title(const struct whatif *whatif, FILE *out)
{
    const char *system = "";
    for (uint32_t i = 0; i < whatif->count && system[0] == '\0'; i++) {
        const struct cell *cell = result_cell(&whatif->results[i], COLUMN(system));
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
        runs_notes_print_below(notes, view->why, out);
    }
    runs_notes_destroy(notes);
    return good;
}
