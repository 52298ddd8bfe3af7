#include "predict/scenario/point.h"

#include "core/array.h"
#include "decode/time/pipeline.h"
#include "model/parallel.h"
#include "predict/scenario/resolve_trace.h"
#include "predict/scenario/sources.h"
#include "server/server_engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void point_init(struct point *point)
{
    memset(point, 0, sizeof *point);
    setup_init(&point->setup);
}

void point_close_families(struct point *point)
{
    for (uint32_t i = 0; i < point->family_count; i++) {
        trace_close(point->families[i].trace);
    }
    point->family_count = 0;
}

void point_release(struct point *point)
{
    point_close_families(point);
    setup_release(&point->setup);
    sources_release(point->sources);
    free(point->scenario);
    free(point->decode_scenario);
    point_init(point);
}

uint32_t point_views(const struct point *point)
{
    return point->family_count > 0 ? point->family_count : 1;
}

bool point_view(const struct point *point, uint32_t family, struct point *view, struct error *why)
{
    struct setup *setup = &view->setup;
    *view = *point;
    if (point->family_count == 0) {
        return true;
    }
    view->family_count = 0;
    setup->trace = point->families[family].trace;
    snprintf(setup->trace_name, sizeof setup->trace_name, "%s", point->families[family].name);
    if (setup->cohorts != NULL) {
        setup->cohorts = array_zeroed(setup->cohort_count, sizeof *setup->cohorts, why);
        if (setup->cohorts == NULL) {
            return false;
        }
        memcpy(setup->cohorts, point->setup.cohorts, setup->cohort_count * sizeof *setup->cohorts);
    }
    for (uint32_t i = 0; i < setup->cohort_count; i++) {
        setup->cohorts[i].trace = setup->trace;
    }
    resolve_trace_source(setup);
    return true;
}

void point_view_release(const struct point *point, struct point *view)
{
    if (view->setup.cohorts != point->setup.cohorts) {
        free(view->setup.cohorts);
    }
}

bool point_serves(const struct point *point)
{
    return point->workload.path[0] != '\0';
}

uint32_t point_joined_ranks(const struct point *point)
{
    const struct model *model = &point->setup.model;
    return model_shares_experts(model) ? model->parallel.data : 1;
}

uint32_t point_passes(const struct point *point)
{
    return point_joined_ranks(point) * point->setup.model.parallel.pipeline;
}

uint64_t point_servers(const struct point *point)
{
    return point->workload.replicas *
           (point->setup.model.parallel.data / point_joined_ranks(point));
}

bool point_launches(const struct point *point, bool prompts)
{
    const struct workload *workload = &point->workload;
    return workload->compile == COMPILE_EAGER ||
           (prompts && workload->engine.path.prompts_launched);
}

size_t point_curves(const struct point *point, enum curve_id *ids)
{
    const struct mechanisms *m = &point->setup.mechanisms;
    bool serves = point_serves(point);
    struct pipeline_beside beside = {
        .prompts = serves,
        .launches = serves && point_launches(point, true),
        .copies = serves && (m->prefix == PREFIX_TWO_TIER || m->preemption == PREEMPTION_SWAP),
    };
    for (int tier = 0; tier < TIER_COUNT; tier++) {
        beside.below[tier] = serves && m->prefix_below[tier] != PREFIX_BELOW_NONE;
        beside.copies = beside.copies || beside.below[tier];
    }
    return pipeline_curves(&point->setup, beside, ids);
}
