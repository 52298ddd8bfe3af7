#include "cli/curve/curve_report.h"

#include "base/text.h"
#include "study/whatif/knee.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct parameter_style parameter_words = {"", " ", ", "};
const struct parameter_style parameter_json = {"\"", "\":", ","};

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
    text[0] = '\0';
    for (size_t i = 0; param != NULL && param[i].name != NULL; i++) {
        if (curves->values[i] != param[i].value) {
            text_append(text, CURVE_PARAMETERS, "%s%s%s%s%.15g",
                        text[0] != '\0' ? style->comma : "", style->quote, param[i].name,
                        style->equals, curves->values[i]);
        }
    }
}

uint32_t curve_report_knee(const struct curve_sizes *sizes, const struct miss_curve *curve,
                           uint32_t group)
{
    uint32_t at;
    return knee_find(sizes->size, miss_curve_group(curve, group), curve->count,
                     curve->accesses[group], &at)
               ? sizes->size[at]
               : 0;
}

static void print_group(const struct curve_report *report, const struct policy_curves *curves,
                        uint32_t group, const char *name, const char *parameters)
{
    const struct miss_curve *curve = &curves->curve;
    int64_t layer, head;
    curve_report_place(report, group, &layer, &head);
    for (uint32_t i = 0; i < curve->count; i++) {
        printf("{\"policy\":%s", name);
        if (parameters[0] != '\0') {
            printf(",\"parameters\":{%s}", parameters);
        }
        if (layer >= 0) {
            printf(",\"layer\":%" PRId64, layer);
        }
        if (head >= 0) {
            printf(",\"head\":%" PRId64, head);
        }
        printf(",\"size\":%" PRIu32 ",\"accesses\":%" PRIu64 ",\"misses\":%" PRIu64 "}\n",
               curves->sizes.size[i], curve->accesses[group], miss_curve_group(curve, group)[i]);
    }
}

static bool print_policy(const struct curve_report *report, const struct policy_curves *curves,
                         struct error *why)
{
    char parameters[CURVE_PARAMETERS];
    json_t *text = json_string(curves->policy->name);
    char *name = text != NULL ? json_dumps(text, JSON_ENCODE_ANY) : NULL;
    curve_report_parameters(curves, &parameter_json, parameters);
    for (uint32_t group = 0; name != NULL && group < curves->curve.groups; group++) {
        print_group(report, curves, group, name, parameters);
    }
    bool ok = name != NULL ||
              error_set(why, NULL, 0, "'%s' cannot be written as JSON", curves->policy->name);
    free(name);
    json_decref(text);
    return ok;
}

bool curve_report_json(const struct curve_report *report, struct error *why)
{
    bool ok = true;
    for (uint32_t p = 0; ok && p < report->count; p++) {
        ok = print_policy(report, &report->policies[p], why);
    }
    return ok;
}
