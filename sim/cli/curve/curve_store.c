/* The curves of a report as rows of the database. */
#include "base/array.h"
#include "cli/curve/curve_report.h"
#include "store/store_curve.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The columns that all curves of a policy share. */
static struct store_curve describe(const struct curve_report *report,
                                   const struct policy_curves *curves, const char *parameters)
{
    struct store_curve row = {
        .source = report->source,
        .blocks = report->blocks,
        .unit_tokens =
            report->trace != NULL ? (int64_t)trace_header(report->trace)->unit_tokens : -1,
        .selection = report->trace != NULL ? report->selection : -1,
        .step_order = report->order == POLICY_BATCH ? "batch" : "sequential",
        .warmup = report->warmup,
        .policy = curves->policy->name,
        .policy_title = curve_report_title(report, curves),
        .policy_content = curves->policy->content,
        .parameters = parameters,
        .layer = -1,
        .head = -1,
        .sizes = curves->sizes.size,
        .count = curves->curve.count,
    };
    snprintf(row.source_hash, sizeof row.source_hash, "%016" PRIx64, report->hash);
    return row;
}

static void take_points(struct store_curve *row, const struct policy_curves *curves,
                        const struct miss_curve *curve, uint32_t group)
{
    uint32_t knee = curve_report_knee(&curves->sizes, curve, group);
    row->accesses = curve->accesses[group];
    row->misses = miss_curve_group(curve, group);
    row->knee = knee > 0 ? (int64_t)knee : -1;
}

/* Store the curve of all heads, and those of the groups if there are several. */
static bool put_policy(const struct curve_report *report, const struct policy_curves *curves,
                       struct store *store, struct error *why)
{
    char list[CURVE_PARAMETERS], parameters[CURVE_PARAMETERS + 2];
    uint32_t groups = report->group == MISS_WHOLE ? 0 : curves->curve.groups;
    struct store_curve *rows = array_zeroed((size_t)groups + 1, sizeof *rows, why);
    if (rows == NULL) {
        return false;
    }
    curve_report_parameters(curves, &parameter_json, list);
    snprintf(parameters, sizeof parameters, "{%s}", list);
    for (uint32_t group = 0; group < groups; group++) {
        rows[group] = describe(report, curves, parameters);
        curve_report_place(report, group, &rows[group].layer, &rows[group].head);
        take_points(&rows[group], curves, &curves->curve, group);
    }
    rows[groups] = describe(report, curves, parameters);
    take_points(&rows[groups], curves, &curves->whole, 0);
    bool ok = store_put_curves(store, rows, groups + 1, why);
    free(rows);
    return ok;
}

bool curve_report_store(const struct curve_report *report, struct store *store, struct error *why)
{
    bool ok = true;
    for (uint32_t p = 0; ok && p < report->count; p++) {
        ok = put_policy(report, &report->policies[p], store, why);
    }
    return ok;
}
