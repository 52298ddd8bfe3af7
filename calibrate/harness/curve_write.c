#include "calibrate/harness/curve_write.h"

#include "core/quote.h"
#include "calibrate/harness/thin.h"
#include "machine/profile.h"

#include <math.h>
#include <string.h>

void text_write(const char *text, FILE *out)
{
    fputc('"', out);
    quote_write(QUOTE_YAML_DOUBLE, text, out);
    fputc('"', out);
}

/* A figure's samples, summarised for the curve's source. */
struct summary {
    uint32_t least, most; /* samples of a point */
    uint32_t unsettled;   /* points */
    uint32_t stray;       /* samples */
    double drift;         /* the drift furthest from 1, less 1 */
    double low, high;     /* the worst p10 and p90, as shares of their median */
};

static struct summary curve_write_sum_up(const struct finding *finding)
{
    struct summary summary = {.least = UINT32_MAX, .low = 1, .high = 1};
    for (uint32_t i = 0; i < finding->count; i++) {
        const struct found_point *point = &finding->points[i];
        summary.least = point->samples < summary.least ? point->samples : summary.least;
        summary.most = point->samples > summary.most ? point->samples : summary.most;
        summary.unsettled += !point->precise && point->samples > 1;
        summary.stray += point->stray;
        if (point->drift > 0 && fabs(point->drift - 1) > fabs(summary.drift)) {
            summary.drift = point->drift - 1;
        }
        if (point->median > 0) {
            summary.low = fmin(summary.low, point->p10 / point->median);
            summary.high = fmax(summary.high, point->p90 / point->median);
        }
    }
    return summary;
}

/* The range is cut to what curve_read() accepts. A single sample gives no range. */
static void curve_write_range(const struct summary *summary, FILE *out)
{
    if (summary->most == 1) {
        return;
    }
    char low[FIGURE_TEXT], high[FIGURE_TEXT];
    figure_text(fmax(summary->low, 0.001), UNIT_SHARE, low);
    figure_text(fmin(summary->high, 100), UNIT_SHARE, high);
    fprintf(out, "    range: [%s, %s]\n", low, high);
}

static void write_source(const struct finding *finding, const struct thinned *thinned, FILE *out)
{
    struct summary summary = curve_write_sum_up(finding);
    char text[1024];
    int used = snprintf(text, sizeof text, "%s; %u", finding->note, summary.least);
    const char *of_each = finding->count > 1 ? " of each point" : "";
    if (summary.most > summary.least) {
        used += snprintf(text + used, sizeof text - (size_t)used, " to %u", summary.most);
    }
    used += snprintf(text + used, sizeof text - (size_t)used, " sample%s%s",
                     summary.most > 1 ? "s" : "", of_each);
    if (summary.unsettled > 0) {
        used += snprintf(text + used, sizeof text - (size_t)used,
                         ", too restless at %u of %u to settle", summary.unsettled, finding->count);
    }
    if (fabs(summary.drift) >= 0.05) {
        used += snprintf(text + used, sizeof text - (size_t)used, ", drift up to %+.0f %%",
                         100 * summary.drift);
    }
    if (summary.stray > 0) {
        used += snprintf(text + used, sizeof text - (size_t)used, ", %u stray", summary.stray);
    }
    if (thinned->count < finding->count) {
        snprintf(text + used, sizeof text - (size_t)used,
                 "; %u of %u points left out, at most %.2g %% off", finding->count - thinned->count,
                 finding->count, 100 * thinned->worst);
    }
    curve_write_range(&summary, out);
    fputs("    source: ", out);
    text_write(text, out);
    fputc('\n', out);
}

static void write_kept(const struct finding *finding, const struct thinned *thinned, FILE *out)
{
    enum { IN_LINE = 6 };
    char size[FIGURE_TEXT], value[FIGURE_TEXT];
    fputs("    points: [", out);
    for (uint32_t i = 0; i < thinned->count; i++) {
        const struct found_point *point = &finding->points[thinned->kept[i]];
        fprintf(out, "%s[%s, %s]",
                i == 0             ? ""
                : i % IN_LINE == 0 ? ",\n      "
                                   : ", ",
                size_text(point->size, finding->axis, size),
                figure_text(point->median, finding->unit, value));
    }
    fputs("]\n", out);
}

/* A curve with one point has the same value at every size. A single figure cannot have two points.
 */
static bool write_curve(const struct finding *finding, FILE *out, struct error *why)
{
    char value[FIGURE_TEXT];
    struct thinned thinned;
    if (finding->axis[0] == '\0' && finding->count > 1) {
        return error_set(why, NULL, 0, "'%s' is one figure and was measured at %u sizes",
                         finding->name, finding->count);
    }
    if (!points_thin(finding->points, finding->count, THIN_SHARE, &thinned, why)) {
        return false;
    }
    fprintf(out, "  %s:\n", strchr(finding->name, '.') + 1);
    if (finding->count == 1) {
        figure_text(finding->points[0].median, finding->unit, value);
        fprintf(out, "    value: %s\n", value);
    } else {
        write_kept(finding, &thinned, out);
    }
    fprintf(out, "    basis: %s\n", basis_names[BASIS_MEASURED]);
    write_source(finding, &thinned, out);
    thinned_release(&thinned);
    return true;
}

bool curves_write(const struct findings *findings, const char *part, FILE *out, struct error *why)
{
    bool begun = false;
    for (size_t id = 0; id < CURVE_COUNT; id++) {
        const char *name = curve_kinds[id].name;
        const struct finding *finding = findings_get(findings, name);
        if (strncmp(name, part, strlen(part)) != 0 || finding == NULL || finding->count == 0) {
            continue;
        }
        if (!begun) {
            fprintf(out, "%.*s:\n", (int)strlen(part) - 1, part);
            begun = true;
        }
        if (!write_curve(finding, out, why)) {
            return false;
        }
    }
    return true;
}
