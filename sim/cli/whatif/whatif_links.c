/* A system plans with the figures of its link: given a faster one it may keep less KV in HBM and
 * fetch more. And a link that copies faster may do something else more slowly. Machines are resolved
 * again, because results do not hold their figures. */
#include "cli/whatif/whatif_report.h"

#include "base/text.h"
#include "base/units.h"
#include "answer/figures.h"
#include "cli/whatif/whatif_text.h"

#include <stdlib.h>
#include <string.h>

enum { LINE = 1024, NAME = WHATIF_LINE, VALUE = 32 };

/* Figures of a link of which less is better. */
static bool is_latency(enum curve_id id)
{
    return id == CURVE_LINK_COPY_LATENCY || id == CURVE_LINK_ROUND_TRIP;
}

/* ", link.d2h 26 GB/s against 50 GB/s" for each figure of the link at which the second machine is
 * behind the first by more than a hundredth. */
static void append_figures(const struct profile *slow, const struct profile *fast, char text[LINE])
{
    static const enum curve_id ids[] = {CURVE_LINK_OUT,          CURVE_LINK_DUPLEX,
                                        CURVE_LINK_COPY_LATENCY, CURVE_LINK_ROUND_TRIP,
                                        CURVE_LINK_ZERO_COPY,    CURVE_LINK_CPU_STORE};
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        struct trust trust;
        char a[VALUE], b[VALUE];
        double x = profile_value(slow, ids[i], 1, &trust);
        double y = profile_value(fast, ids[i], 1, &trust);
        if (is_latency(ids[i]) ? y > 1.01 * x : y < 0.99 * x) {
            text_append(text, LINE, "%s%s is %s, and %s over the slower one",
                        text[0] != '\0' ? "; " : "", curve_kinds[ids[i]].name,
                        units_format(y, curve_kinds[ids[i]].unit, b, sizeof b),
                        units_format(x, curve_kinds[ids[i]].unit, a, sizeof a));
        }
    }
}

/* What the system does otherwise over the faster link. */
static void append_plan(const struct result *slow, const struct result *fast, char text[LINE])
{
    char a[ANSWER_SIZE], b[ANSWER_SIZE], c[ANSWER_SIZE], d[ANSWER_SIZE];
    const char *kept = figure_text(slow, FIGURE_KV, a), *left = figure_text(fast, FIGURE_KV, b);
    if (kept != NULL && left != NULL && strcmp(kept, left) != 0 &&
        figure_value(fast, FIGURE_LINK) > figure_value(slow, FIGURE_LINK)) {
        text_append(text, LINE,
                    "expecting more of it, the system keeps %s of KV in HBM instead of %s, and "
                    "fetches %s a step instead of %s",
                    left, kept, figure_text(fast, FIGURE_LINK, c),
                    figure_text(slow, FIGURE_LINK, d));
    }
}

/* The part of the step that grows most. */
static void append_part(const struct result *slow, const struct result *fast, char text[LINE])
{
    uint32_t most = 0;
    int64_t growth = 0;
    for (uint32_t i = 0; i < fast->part_count && i < slow->part_count; i++) {
        int64_t own = fast->parts[i].ns - slow->parts[i].ns;
        most = own > growth ? i : most;
        growth = own > growth ? own : growth;
    }
    if (growth > 0) {
        text_append(text, LINE, "%s%s takes %.2f ms more of the step", text[0] != '\0' ? "; " : "",
                    fast->parts[most].name, (double)growth / 1e6);
    }
}

static bool add_reasons(const struct whatif *whatif, uint32_t slower, uint32_t faster,
                        char text[LINE])
{
    struct point slow, fast;
    struct error unseen;
    if (!scenario_point(&whatif->scenario, slower, &slow, &unseen)) {
        return false;
    }
    bool good = scenario_point(&whatif->scenario, faster, &fast, &unseen);
    if (good) {
        append_plan(&whatif->results[slower], &whatif->results[faster], text);
        append_figures(&slow.setup.profile, &fast.setup.profile, text);
        append_part(&whatif->results[slower], &whatif->results[faster], text);
        point_release(&fast);
    }
    point_release(&slow);
    return good && text[0] != '\0';
}

/* Does the second point have a longer step, by more than half a hundredth? */
static bool is_slower(const struct whatif *whatif, uint32_t first, uint32_t second)
{
    const struct cell *a = &whatif->results[first].cells[COLUMN_STEP];
    const struct cell *b = &whatif->results[second].cells[COLUMN_STEP];
    return a->set && b->set && (double)b->integer > 1.005 * (double)a->integer;
}

void whatif_links_print(const struct whatif *whatif, FILE *out)
{
    bool links = whatif->axis_count == 1 && strcmp(whatif->axes[0].key, "hardware.link") == 0;
    for (uint32_t i = 0; links && i + 1 < whatif->count; i++) {
        char line[LINE + 2 * NAME], reasons[LINE] = "", slow[NAME], fast[NAME];
        if (is_slower(whatif, i, i + 1) && add_reasons(whatif, i, i + 1, reasons)) {
            snprintf(line, sizeof line, "%s is slower here than %s, although it carries more: %s",
                     whatif_name(whatif, i + 1, fast), whatif_name(whatif, i, slow), reasons);
            table_line("note: ", line, out);
        }
    }
}
