#include "cli/curve/curve_report.h"

#include "core/text.h"
#include "study/whatif/whatif.h"

#include <stdio.h>
#include <string.h>

const struct parameter_style parameter_words = {"", "", " ", ", ", ""};
const struct parameter_style parameter_json = {"{", "\"", "\":", ",", "}"};

void curve_report_place(const struct curve_report *report, uint32_t group, int64_t *layer,
                        int64_t *head)
{
    uint32_t heads = report->group == MISS_HEAD ? trace_header(report->trace)->kv_heads : 1;
    *layer =
        report->group == MISS_WHOLE ? -1 : (int64_t)trace_model_layer(report->trace, group / heads);
    *head = report->group == MISS_HEAD ? (int64_t)(group % heads) : -1;
}

const char *curve_report_title(const struct curve_report *report,
                               const struct policy_curves *curves)
{
    const struct policy_kind *own = curves->policy;
    bool taken = own->title == NULL;
    for (uint32_t i = 0; !taken && i < report->count; i++) {
        const struct policy_kind *other = report->policies[i].policy;
        taken = other != own && strcmp(own->title, policy_title(other)) == 0;
    }
    return taken ? own->name : own->title;
}

void curve_report_parameters(const struct policy_curves *curves,
                             const struct parameter_style *style, char text[CURVE_PARAMETERS])
{
    const struct policy_param *param = curves->policy->params;
    const char *comma = "";
    snprintf(text, CURVE_PARAMETERS, "%s", style->begin);
    for (size_t i = 0; param != NULL && param[i].name != NULL; i++) {
        if (i == 0 || curves->values[i] != param[i].value) {
            text_append(text, CURVE_PARAMETERS, "%s%s%s%s%.15g", comma, style->quote, param[i].name,
                        style->equals, curves->values[i]);
            comma = style->comma;
        }
    }
    text_append(text, CURVE_PARAMETERS, "%s", style->end);
}

uint32_t curve_report_knee(const struct curve_sizes *sizes, const struct miss_curve *curve,
                           uint32_t group)
{
    uint32_t at;
    const uint64_t *misses = miss_curve_group(curve, group);
    bool flat = curve->count > 0;
    for (uint32_t i = 1; i < curve->count; i++) {
        flat = flat && misses[i] == misses[0];
    }
    return !flat && knee_find(sizes->size, misses, curve->count, curve->accesses[group], &at)
               ? sizes->size[at]
               : 0;
}
