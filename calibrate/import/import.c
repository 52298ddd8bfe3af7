#include "calibrate/import/import.h"

#include "core/files.h"
#include "calibrate/measure/measure.h"
#include "calibrate/measure/statistics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A pipe is text, and would lose its beginning here. */
static bool is_sqlite(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char start[sizeof magic] = "";
    struct error unseen;
    FILE *file = regular_open(path, &unseen);
    bool whole = file != NULL && fread(start, 1, sizeof start, file) == sizeof start;
    if (file != NULL) {
        fclose(file);
    }
    return whole && memcmp(start, magic, sizeof magic) == 0;
}

static bool import_text(const char *path, struct findings *findings, struct provenance *provenance,
                        struct error *why)
{
    size_t size;
    char *text = node_file(path, &size, why);
    bool ok = text != NULL && nvbandwidth_import(text, size, path, findings, provenance, why);
    free(text);
    return ok;
}

bool findings_import(const char *path, struct findings *findings, struct provenance *provenance,
                     struct error *why)
{
    return (is_sqlite(path) ? nsight_import : import_text)(path, findings, provenance, why);
}

bool import_figure(struct findings *findings, const char *curve, const double *sorted,
                   uint32_t count, const char *name, struct error *why, const char *format, ...)
{
    char note[sizeof findings->all->note];
    double low, high, median = samples_quantile(sorted, count, 0.5);
    const struct found_point point = {
        .median = median,
        .p10 = samples_quantile(sorted, count, 0.1),
        .p90 = samples_quantile(sorted, count, 0.9),
        .samples = count,
        .precise = samples_median_interval(sorted, count, 0.95, &low, &high) &&
                   (high - low) / 2 <= effort_full.precision * median,
        .drift = 1,
        .stray = samples_stray(sorted, count),
    };
    if (findings_get(findings, curve) != NULL) {
        error_set(why, name, 0, "states '%s', which an earlier file states, too", curve);
        return error_expect(why, "one file for each figure");
    }
    va_list list;
    va_start(list, format);
    vsnprintf(note, sizeof note, format, list);
    va_end(list);
    struct finding *finding = findings_add(findings, curve, "", UNIT_COUNT, why);
    return finding != NULL && finding_put(finding, &point, why) &&
           findings_note(findings, curve, note, why);
}
